import { config } from 'zod';

/* Loaded before any schema is made: a strict page policy forbids code from strings and reports each attempt. */
config({ jitless: true });
