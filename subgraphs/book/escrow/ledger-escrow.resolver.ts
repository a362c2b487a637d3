import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { present } from '../../../schema/canonical-json.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { EscrowClaim, LedgerEscrowRequest } from '../../../schema/requests/escrow.ts';
import type { WithoutPossession } from '../../../schema/requests/possession.ts';
import { requirePossession, requireWriting } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import type { LedgerMove } from './ledger-escrow.machine.ts';
import { ledgerEscrow, moveLedgerEscrow, openLedgerEscrow } from './ledger-escrow.ts';
import { LedgerEscrow, LedgerEscrowInput, LedgerEscrowName } from './ledger-escrow.type.ts';

const BookArguments = argumentsType(BookPath);
const ClawbackArguments = argumentsType(BookPath, EscrowClaim);
const WHICH = { description: 'The escrow, by its id or by the task id of the call that it is on.' };

@Resolver()
export class LedgerEscrowResolver {
  @Query(() => LedgerEscrow, {
    nullable: true,
    description:
      'A ledger escrow of a book. Requires possession of the book. Demo keys are refused. Null if there is an error.',
  })
  ledgerEscrow(
    @Arg('escrow', () => LedgerEscrowName, WHICH) escrow: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    requireWriting(context.principal);
    return ledgerEscrow(context, agent_id, stepOf('status', escrow, context));
  }

  @Mutation(() => LedgerEscrow, {
    nullable: true,
    description:
      'Records an escrow for a call of the book whose payment was collected: a note with conditions, because the money was already paid. Repeating the request returns the same escrow. Requires possession of the book. Null if there is an error.',
  })
  openLedgerEscrow(
    @Arg('input', () => LedgerEscrowInput, { description: 'The call, the expiry and the requirements of a release.' })
    input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    const agent_id = requirePossession(context.principal, agentId);
    return openLedgerEscrow(context, agent_id, stepOf('open', input, context));
  }

  @Mutation(() => LedgerEscrow, {
    nullable: true,
    description:
      'Releases the escrow, if every check passes; if not, `checks` of the error lists each check. No money moves. Requires possession of the book. Null if there is an error.',
  })
  releaseLedgerEscrow(
    @Arg('escrow', () => LedgerEscrowName, WHICH) escrow: Arguments,
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    return move('release', { ...escrow, ...args }, context);
  }

  @Mutation(() => LedgerEscrow, {
    nullable: true,
    description:
      'Claws the escrow back (ends it without a release). No money moves. Before it expires, `claimType` is required. Requires possession of the book. Null if there is an error.',
  })
  clawBackLedgerEscrow(
    @Arg('escrow', () => LedgerEscrowName, WHICH) escrow: Arguments,
    @Args(() => ClawbackArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<LedgerEscrow> {
    return move('clawback', { ...escrow, ...args }, context);
  }
}

/** Carries out a step that ends an escrow. */
function move(action: LedgerMove, args: ArgumentsOfBook, context: BookContext): Promise<LedgerEscrow> {
  const agent_id = requirePossession(context.principal, args.agentId);
  const { escrow_id, task_id, ...said } = stepOf(action, args, context);
  return moveLedgerEscrow(context, agent_id, { escrow_id, task_id }, { action, said: present(said) });
}

type Step = WithoutPossession<z.output<typeof LedgerEscrowRequest>>;

/** Reads the request of a step, and leaves out the name of its action. */
function stepOf<A extends Step['action']>(action: A, args: Arguments, context: BookContext) {
  const { action: _, ...said } = readRequest(LedgerEscrowRequest, { ...args, action }, context);
  return said as Omit<Extract<Step, { readonly action: A }>, 'action'>;
}
