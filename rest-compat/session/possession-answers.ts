import { z } from 'zod';

export const Rotation = z.object({
  agent_id: z.int(),
  session: z.string().describe('Opens the book from now on; said once. The one before it is dead.'),
  rotated_at: z.iso.datetime(),
});
