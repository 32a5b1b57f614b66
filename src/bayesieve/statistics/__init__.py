"""Per-class sums of the training data, and the walks over X that gather them."""
