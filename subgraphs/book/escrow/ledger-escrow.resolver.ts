import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import { LedgerClawback, LedgerName, LedgerOpen } from '../../../schema/requests/escrow.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession, requireWriting } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';
import { ledgerEscrow, moveLedgerEscrow, openLedgerEscrow } from './ledger-escrow.ts';
import { LedgerEscrow, LedgerEscrowInput, LedgerEscrowName } from './ledger-escrow.type.ts';

@Resolver()
export class LedgerEscrowResolver {
  @Query(() => LedgerEscrow, {
    nullable: true,
    description: 'A ledger escrow of a book, as it stands now. A demo key is refused here, as everywhere in escrow.',
  })
  ledgerEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('escrow', () => LedgerEscrowName, { description: 'Which one.' }) escrow: LedgerEscrowName,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    requireWriting(context.principal);
    return ledgerEscrow(context, agent_id, nameOf(escrow));
  }

  @Mutation(() => LedgerEscrow, {
    nullable: true,
    description: 'Records a hold over a collected call of the book. No money is held. The same again is the same one.',
  })
  openLedgerEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => LedgerEscrowInput, { description: 'Over what, and until when.' }) input: LedgerEscrowInput,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const { amount, expiresAt, required } = input;
    const members = withoutNull({
      taskId: input.taskId,
      expiresAt: expiresAt?.toISOString(),
      amount: typeof amount === 'bigint' ? String(amount) : amount,
      required: required && withoutNull({ ...required }),
    });
    return openLedgerEscrow(context, agent_id, parseRequest(LedgerOpen, toSnakeKeys(members)));
  }

  @Mutation(() => LedgerEscrow, { nullable: true, description: 'Releases it, where every check passes.' })
  releaseLedgerEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('escrow', () => LedgerEscrowName, { description: 'Which one.' }) escrow: LedgerEscrowName,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    return moveLedgerEscrow(context, agent_id, nameOf(escrow), { action: 'release', said: {} });
  }

  @Mutation(() => LedgerEscrow, {
    nullable: true,
    description: 'Takes it back: before its time is over for a reason, after that for none.',
  })
  clawBackLedgerEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('escrow', () => LedgerEscrowName, { description: 'Which one.' }) escrow: LedgerEscrowName,
    @Arg('claimType', () => ClaimTypeWord, { nullable: true, description: 'Why.' })
    claimType: ClaimType | null,
    @Arg('evidence', () => GraphQLJSONObject, { nullable: true, description: 'Any object, up to 4 KiB.' })
    evidence: JsonObject | null,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const members = {
      ...(toSnakeKeys(withoutNull({ ...escrow })) as JsonObject),
      ...withoutNull({ claim_type: claimType, evidence }),
    };
    const { claim_type, evidence: given, ...name } = parseRequest(LedgerClawback, members);
    const said = present({ claim_type, evidence: given });
    return moveLedgerEscrow(context, agent_id, name, { action: 'clawback', said });
  }
}

function nameOf(escrow: LedgerEscrowName): LedgerName {
  return parseRequest(LedgerName, toSnakeKeys(withoutNull({ ...escrow })));
}
