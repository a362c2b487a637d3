import { config } from 'zod';

/* Loaded before any shape is made: a page under a strict policy may make no code of texts, and is told of each attempt. */
config({ jitless: true });
