"""The HTTP side of a crawl: fetcher, cookies, decompression, throttle and SSRF guard."""
