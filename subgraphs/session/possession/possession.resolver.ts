import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import type { HeldBook } from '../../../schema/principal.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { SessionRotationNoun } from '../../../schema/session/registration.ts';
import { requireSession } from '../../access.ts';
import type { Context, Services } from '../../context.ts';
import { type ArgumentsOfBook, argumentsType, objectType } from '../../graph-type.ts';
import { agentById } from '../agent/find.ts';
import { endSession } from './end.ts';
import { type IssuedSession, issueSession } from './issue.ts';

const SessionRotation = objectType(
  'SessionRotation',
  'The new secret that opens a book. It is shown only once.',
  SessionRotationNoun,
);
type SessionRotation = InstanceType<typeof SessionRotation>;
const RotationArguments = argumentsType(BookPath);

@Resolver(() => SessionRotation)
export class PossessionResolver {
  // Nullable, so that the secret is still in the response if another field is refused.
  @Mutation(() => SessionRotation, {
    nullable: true,
    description:
      'Revokes the current session of a book and issues a new one. The book is unchanged. Requires the session itself (`X-SVC-Session`): a proof is not accepted. Null only on error.',
  })
  async rotateSession(
    @Args(() => RotationArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: Context,
  ): Promise<SessionRotation> {
    const { session, issued_at } = await rotateSession(requireSession(context.principal, agentId), context);
    return { agentId, session, rotatedAt: issued_at };
  }
}

/**
 * Issues a new session and ends the current one. A session that has ended meanwhile rotates nothing, so that a thief of the old session
 * cannot get the new one. @throws forbidden
 */
async function rotateSession(
  { agent_id, session_hash }: HeldBook,
  services: Pick<Services, 'database' | 'random' | 'vault'>,
): Promise<IssuedSession> {
  const agent = await agentById(services.database, agent_id);
  if (agent === null) throw new Error(`agent ${agent_id} holds a session and does not exist`);
  return services.database.transaction(async tx => {
    const ended = await endSession(tx, { agent_id, task_id: agent.taskId });
    if (ended !== session_hash) throw new Refusal('forbidden');
    return issueSession(tx, agent_id, services);
  });
}
