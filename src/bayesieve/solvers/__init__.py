"""Pure functions from class sums to gains, supports and parameters: arrays in, small frozen results out."""
