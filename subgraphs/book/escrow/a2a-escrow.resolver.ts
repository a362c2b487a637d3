import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import { A2aChallenge, A2aClawback, A2aFund, A2aName, A2aOpen, A2aSubmit } from '../../../schema/requests/escrow.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession, requireWriting } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';
import { A2aEscrow, A2aEscrowInput, A2aEscrowName } from './a2a-escrow.type.ts';
import { openA2aEscrow } from './a2a-open.ts';
import { a2aEscrow, moveA2aEscrow } from './a2a-step.ts';

@Resolver()
export class A2aEscrowResolver {
  @Query(() => A2aEscrow, {
    nullable: true,
    description:
      'An escrow with another agent as it stands now, as this party of it is shown it. A demo key is refused here, as everywhere in escrow.',
  })
  a2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    requireWriting(context.principal);
    return a2aEscrow(context, agent_id, parseRequest(A2aName, membersOf(escrow)));
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Opens an escrow with another agent, as its principal. No money is held. Nothing is written on the book of the counterparty before the counterparty acts itself.',
  })
  openA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book: the principal’s.' }) agentId: number,
    @Arg('input', () => A2aEscrowInput, { description: 'Its terms.' }) input: A2aEscrowInput,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const { amount, expiresAt, parties, required } = input;
    const members = withoutNull({
      ...input,
      required: required && { ...required },
      expiresAt: expiresAt?.toISOString(),
      parties: withoutNull({ ...parties }),
      amount: typeof amount === 'bigint' ? String(amount) : amount,
    });
    return openA2aEscrow(context, agent_id, parseRequest(A2aOpen, toSnakeKeys(members)));
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description: 'Names the collected payment of the principal that backs it: one escrow, for ever.',
  })
  fundA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book: the principal’s.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Arg('taskId', () => String, { description: 'The call that was paid for.' }) task_id: string,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const { task_id: named, ...name } = parseRequest(A2aFund, { ...membersOf(escrow), task_id });
    return moveA2aEscrow(context, agent_id, name, { action: 'fund', said: { task_id: named } });
  }

  @Mutation(() => A2aEscrow, { nullable: true, description: 'Delivers, for its counterparty.' })
  submitA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book: the counterparty’s.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Arg('fulfillmentReceiptId', () => String, {
      description:
        'Task id of a receipt on the book of either party, collected at or after openedAt. A receipt fulfils one escrow only, also if that escrow is clawed back later.',
    })
    fulfillment_receipt_id: string,
    @Arg('outputCommitment', () => String, { description: '`sha256:<hex>` or `keccak256:<hex>`.' })
    output_commitment: string,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const asked = parseRequest(A2aSubmit, { ...membersOf(escrow), fulfillment_receipt_id, output_commitment });
    const { job_id, parties, ...said } = asked;
    return moveA2aEscrow(context, agent_id, { job_id, parties }, { action: 'submit', said });
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description: 'Releases it, for its principal, where every check passes.',
  })
  releaseA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book: the principal’s.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const name = parseRequest(A2aName, membersOf(escrow));
    return moveA2aEscrow(context, agent_id, name, { action: 'release', said: {} });
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description: 'Takes it back, for its principal, or gives it up, for its counterparty.',
  })
  clawBackA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Arg('claimType', () => ClaimTypeWord, { nullable: true, description: 'Why.' })
    claimType: ClaimType | null,
    @Arg('evidence', () => GraphQLJSONObject, { nullable: true, description: 'Any object, up to 4 KiB.' })
    given: JsonObject | null,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const asked = parseRequest(A2aClawback, {
      ...membersOf(escrow),
      ...withoutNull({ claim_type: claimType, evidence: given }),
    });
    const { job_id, parties, claim_type, evidence } = asked;
    const said = present({ claim_type, evidence });
    return moveA2aEscrow(context, agent_id, { job_id, parties }, { action: 'clawback', said });
  }

  @Mutation(() => A2aEscrow, { nullable: true, description: 'Says that the delivery fails, for its principal.' })
  challengeA2aEscrow(
    @Arg('agentId', () => Int, { description: 'Whose book: the principal’s.' }) agentId: number,
    @Arg('escrow', () => A2aEscrowName, { description: 'Which one.' }) escrow: A2aEscrowName,
    @Arg('claimType', () => ClaimTypeWord, { description: 'What it fails.' }) claimType: ClaimType,
    @Arg('evidence', () => GraphQLJSONObject, { nullable: true, description: 'Any object, up to 4 KiB.' })
    given: JsonObject | null,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    const asked = parseRequest(A2aChallenge, {
      ...membersOf(escrow),
      ...withoutNull({ claim_type: claimType, evidence: given }),
    });
    const { job_id, parties, claim_type, evidence } = asked;
    const said = present({ claim_type, evidence });
    return moveA2aEscrow(context, agent_id, { job_id, parties }, { action: 'challenge', said });
  }
}

/** A name as the wire spells it. */
function membersOf({ jobId, parties }: A2aEscrowName): JsonObject {
  return toSnakeKeys(withoutNull({ jobId, parties: parties && withoutNull({ ...parties }) })) as JsonObject;
}
