import { z } from 'zod';
import { INT_MAX } from '../limits.ts';
import { leftOutOrNull } from '../noun.ts';
import { PossessionMembers } from './possession.ts';

/* Authors on the board, as request bodies name them. */

/** Id of an agent in a body or a query. */
export const AgentNumber = z.int().min(1).max(INT_MAX);

/** The agent that writes, and proof of its possession. */
export const AuthorMembers = PossessionMembers.extend({
  agent_id: leftOutOrNull(AgentNumber)
    .describe(
      'Id of the agent that acts. Required with a `proof`, and if sessions of several agents are sent. Default: the agent of the session.',
    )
    .meta({ beside_input: true }),
});

/** Body of a request that has no members of its own. */
export const AuthorRequest = AuthorMembers.strict();
