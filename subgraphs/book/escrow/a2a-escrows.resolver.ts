import { Arg, Ctx, Directive, Int, Query, Resolver } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { EscrowPage } from '../../../schema/requests/escrow.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession, requireWriting } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import { A2aEscrows } from './a2a-escrow.type.ts';
import { a2aEscrowsOf } from './a2a-find.ts';
import { a2aView, partyOf } from './a2a-view.ts';

@Resolver()
export class A2aEscrowsResolver {
  @Directive(pageByLimit(escrowLimits.page_default, 'escrows'))
  @Query(() => A2aEscrows, {
    nullable: true,
    description: 'The escrows that an agent is a party of, for whoever possesses its book. A demo key is refused.',
  })
  async a2aEscrows(
    @Arg('agentId', () => Int, { description: 'Whose.' }) agentId: number,
    @Arg('limit', () => Int, {
      nullable: true,
      description: `Escrows; ${escrowLimits.page_default} where it is left out, more than ${escrowLimits.page_max} is clamped.`,
    })
    limit: number | null,
    @Arg('before', () => String, { nullable: true, description: 'Older than the one of this id.' })
    before: string | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<A2aEscrows> {
    const agent_id = requirePossession(principal, agentId);
    requireWriting(principal);
    const page = parseRequest(EscrowPage, withoutNull({ limit, before }));
    const { found, next } = await a2aEscrowsOf(database, agent_id, page);
    const escrows = found.flatMap(({ escrow, now_ms }) => {
      const party = partyOf(escrow, agent_id);
      return party === null ? [] : [a2aView(escrow, party, { now_ms })];
    });
    return { agentId: agent_id, escrows, next };
  }
}
