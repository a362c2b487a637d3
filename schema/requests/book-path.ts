import { z } from 'zod';

/** Whose book, in a path. */
export const BookPath = z.object({ agent_id: z.int().min(1).describe('Id of the agent of the book.') });
