import { Arg, Args, Ctx, Directive, Mutation, Query, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { present } from '../../../schema/canonical-json.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import {
  A2aDelivery,
  A2aEscrowRequest,
  A2aFunding,
  EscrowChallenge,
  EscrowClaim,
  EscrowPage,
} from '../../../schema/requests/escrow.ts';
import type { WithoutPossession } from '../../../schema/requests/possession.ts';
import { requirePossession, requireWriting } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import type { A2aMove } from './a2a-escrow.machine.ts';
import { A2aEscrow, A2aEscrowInput, A2aEscrowName, A2aEscrows } from './a2a-escrow.type.ts';
import { a2aEscrowsOf } from './a2a-find.ts';
import { openA2aEscrow } from './a2a-open.ts';
import { a2aEscrow, moveA2aEscrow } from './a2a-step.ts';
import { a2aView, partyOf } from './a2a-view.ts';

const BookArguments = argumentsType(BookPath);
const PageArguments = argumentsType(BookPath, EscrowPage);
const FundArguments = argumentsType(BookPath, A2aFunding);
const SubmitArguments = argumentsType(BookPath, A2aDelivery);
const ClawbackArguments = argumentsType(BookPath, EscrowClaim);
const ChallengeArguments = argumentsType(BookPath, EscrowChallenge);
const WHICH = { description: 'Job of the escrow, and its parties if several escrows share the job.' };

@Resolver()
export class A2aEscrowResolver {
  @Directive(pageByLimit(escrowLimits.page_default, 'escrows'))
  @Query(() => A2aEscrows, {
    nullable: true,
    description:
      'Escrows that an agent is a party of. Requires possession of its book. Demo keys are refused. Null if there is an error.',
  })
  async a2aEscrows(
    @Args(() => PageArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<A2aEscrows> {
    const agent_id = requirePossession(principal, args.agentId);
    requireWriting(principal);
    const { found, next } = await a2aEscrowsOf(database, agent_id, readRequest(EscrowPage, args));
    const escrows = found.flatMap(({ escrow, now_ms }) => {
      const party = partyOf(escrow, agent_id);
      return party === null ? [] : [a2aView(escrow, party, { now_ms })];
    });
    return { agentId: agent_id, escrows, next };
  }

  @Query(() => A2aEscrow, {
    nullable: true,
    description:
      'An escrow with another agent, as the requesting party sees it. Requires possession of the book of that party. Demo keys are refused. Null if there is an error.',
  })
  a2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    requireWriting(context.principal);
    const { job_id, parties } = stepOf('status', escrow, context);
    return a2aEscrow(context, agent_id, { job_id, parties });
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Opens an escrow with another agent, as its principal. No money is held. The book of the counterparty gets no row before the counterparty acts itself; if its webhook has the kind `escrow_offer`, it gets that event. Requires possession of the book of the principal. Null if there is an error.',
  })
  openA2aEscrow(
    @Arg('input', () => A2aEscrowInput, {
      description: 'Job, amount, agents, expiry and required output hash of the escrow.',
    })
    input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    return openA2aEscrow(context, agent_id, stepOf('open', input, context));
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Names the collected payment of the principal that backs the escrow. A payment backs one escrow only. Requires possession of the book of the principal. Null if there is an error.',
  })
  fundA2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => FundArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    return move('fund', { ...escrow, ...args }, context);
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Records the delivery for a funded escrow. Requires possession of the book of the counterparty. Null if there is an error.',
  })
  submitA2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => SubmitArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    return move('submit', { ...escrow, ...args }, context);
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Releases the escrow if the payment and the receipt meet all that it requires; if not, `checks` of the error lists each check. No money moves. Requires possession of the book of the principal. Null if there is an error.',
  })
  releaseA2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    return move('release', { ...escrow, ...args }, context);
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Ends the escrow without a release: the principal takes it back, or the counterparty gives it up. No money moves. Possible while `legal` has `clawback` for the caller. In the state `funded` the principal must send `claimType`. Requires possession of the book of the caller. Null if there is an error.',
  })
  clawBackA2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => ClawbackArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    return move('clawback', { ...escrow, ...args }, context);
  }

  @Mutation(() => A2aEscrow, {
    nullable: true,
    description:
      'Challenges the delivery. Requires possession of the book of the principal. Null if there is an error.',
  })
  challengeA2aEscrow(
    @Arg('escrow', () => A2aEscrowName, WHICH) escrow: Arguments,
    @Args(() => ChallengeArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<A2aEscrow> {
    return move('challenge', { ...escrow, ...args }, context);
  }
}

/** Carries out a step that changes an escrow. */
function move(action: A2aMove, args: ArgumentsOfBook, context: BookContext): Promise<A2aEscrow> {
  const agent_id = requirePossession(context.principal, args.agentId);
  const { job_id, parties, ...said } = stepOf(action, args, context);
  return moveA2aEscrow(context, agent_id, { job_id, parties }, { action, said: present(said) });
}

type Step = WithoutPossession<z.output<typeof A2aEscrowRequest>>;

/** Reads the request of a step, and leaves out the name of its action. */
function stepOf<A extends Step['action']>(action: A, args: Arguments, context: BookContext) {
  const { action: _, ...said } = readRequest(A2aEscrowRequest, { ...args, action }, context);
  return said as Omit<Extract<Step, { readonly action: A }>, 'action'>;
}
