not listed
