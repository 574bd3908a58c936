"""The crawl itself: a configuration, pages, links and what they yield."""
