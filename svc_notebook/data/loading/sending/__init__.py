"""Send batches, resume an interrupted load, replace or verify an index."""
