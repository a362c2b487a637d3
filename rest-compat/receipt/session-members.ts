import { z } from 'zod';

/** Left out where the call was paid under no session, and the last two of all but what was handed on. */
export const sessionMembers = {
  delegation_hash: z.string().optional().describe('The delegated session that it was paid under, or done in.'),
  valid_after: z.int().optional().describe('From when on that serves, Unix seconds: iat is not before it.'),
  session_expiry: z.int().optional().describe('When it ends, Unix seconds: iat is not after it.'),
  parent_receipt_id: z.string().optional().describe('Of which receipt this one was made, for another agent.'),
  target_agent: z.int().optional().describe('Which agent may redeem it.'),
};
