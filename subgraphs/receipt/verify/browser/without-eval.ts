import { config } from 'zod';

/* Loaded before any schema is made: a strict content security policy forbids code from strings and reports each attempt. */
config({ jitless: true });
