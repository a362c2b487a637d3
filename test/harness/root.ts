import { join } from 'node:path';

/** Where the checkout lies. */
export const ROOT = join(import.meta.dirname, '..', '..');
