import { Arg, Ctx, Field, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { requireSession } from '../../access.ts';
import type { Context } from '../../context.ts';
import { rotateSession } from './rotate.ts';

@ObjectType({ description: 'The secret that opens a book from now on. Said once.' })
export class SessionRotation {
  @Field(() => Int, { description: 'Whose book it opens.' }) agentId!: number;
  @Field(() => String, { description: 'The secret: not an API key, not a wallet.' }) session!: string;
  @Field(() => DateTimeScalar, { description: 'When the one before it ended.' }) rotatedAt!: Date;
}

@Resolver(() => SessionRotation)
export class PossessionResolver {
  // Nullable: where another is refused beside it, the secret that was said once is in the answer still.
  @Mutation(() => SessionRotation, {
    nullable: true,
    description:
      'Ends the session in hand, at once and everywhere, and issues another; the book stays. A proof rotates nothing.',
  })
  async rotateSession(
    @Arg('agentId', () => Int, { description: 'Whose session.' }) agentId: number,
    @Ctx() context: Context,
  ): Promise<SessionRotation> {
    const { session, issued_at } = await rotateSession(requireSession(context.principal, agentId), context);
    return { agentId, session, rotatedAt: issued_at };
  }
}
