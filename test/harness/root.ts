import { join } from 'node:path';

/** Folder of the checkout. */
export const ROOT = join(import.meta.dirname, '..', '..');
