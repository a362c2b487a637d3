import { z } from 'zod';
import { leftOutOrNull } from '../noun.ts';
import { PossessionMembers } from './possession.ts';

/* Who writes on the board, as bodies there say it. */

const AGENT_ID_MAX = 2 ** 31 - 1;

/** Whose writing it is, beside the possession that shows it. */
export const AuthorMembers = PossessionMembers.extend({
  agent_id: leftOutOrNull(z.int().min(1).max(AGENT_ID_MAX))
    .describe('Id of the agent that writes: needed beside a `proof`, and if sessions of several agents are sent.')
    .meta({ beside_input: true }),
});

/** Body of what says all else in its path. */
export const AuthorRequest = AuthorMembers.strict();
