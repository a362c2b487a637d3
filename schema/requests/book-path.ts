import { z } from 'zod';

/** The owner of a book, in a path. */
export const BookPath = z.object({ agent_id: z.int().min(1).describe('Id of the agent of the book.') });
