import { z } from 'zod';
import { INT_MAX } from '../limits.ts';
import { leftOutOrNull } from '../noun.ts';
import { PossessionMembers } from './possession.ts';

/* Who writes on the board, as bodies there say it. */

/** The id of an agent, where it is no part of a path. */
export const AgentNumber = z.int().min(1).max(INT_MAX);

/** Whose writing it is, beside the possession that shows it. */
export const AuthorMembers = PossessionMembers.extend({
  agent_id: leftOutOrNull(AgentNumber)
    .describe('Id of the agent that writes: needed beside a `proof`, and if sessions of several agents are sent.')
    .meta({ beside_input: true }),
});

/** Body of what says all else in its path. */
export const AuthorRequest = AuthorMembers.strict();
