"""The query editor: search as you type, with an explanation of each hit's rank."""
