"""Choose the few features that matter, with proof, at the price of counting."""
