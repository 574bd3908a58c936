"""What every room stands on: files, display, texts as words, the declared API."""
