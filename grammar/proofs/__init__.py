"""Regular languages over code points: read from ABNF, Lark and regexes, compared, and tested."""
