import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import {
  A2aEscrowNoun,
  A2aEscrowsNoun,
  a2aEscrowActions,
  EscrowCheckNoun,
  LedgerEscrowNoun,
  ledgerEscrowActions,
} from '../../schema/escrow.ts';
import { A2aEscrowRequest, EscrowPage, LedgerEscrowRequest } from '../../schema/requests/escrow.ts';
import { wordList } from '../../schema/words.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { fieldOperation } from '../field-operation.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';

const refusals = [
  'invalid_escrow_action',
  'escrow_claim_required',
  'escrow_not_collected',
  'escrow_checks_failed',
  'not_found',
  'escrow_not_found',
  'escrow_exists',
  'escrows_full',
  'book_damaged',
  'record_damaged',
] as const;

const ledgerOperation = (name: string, field: string) => fieldOperation({ name, field, shows: LedgerEscrowNoun });
const a2aOperation = (name: string, field: string) => fieldOperation({ name, field, shows: A2aEscrowNoun });
const READ_LEDGER = ledgerOperation('read_escrow', 'ledgerEscrow');
const READ_A2A = a2aOperation('read_a2a_escrow', 'a2aEscrow');

/** Escrows over calls of a book, and escrows between two agents. Neither holds money. */
export const escrowDoors = [
  documentDoor({
    name: 'ledger_escrow',
    idempotent: true,
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/escrow',
    summary: 'Open, release, claw back or read an escrow over a call of the book; no money is held',
    tags: ['book'],
    possession: 'required',
    document: READ_LEDGER,
    actions: {
      open: { document: ledgerOperation('open_escrow', 'openLedgerEscrow'), status: 201 },
      release: { document: ledgerOperation('release_escrow', 'releaseLedgerEscrow') },
      clawback: { document: ledgerOperation('claw_back_escrow', 'clawBackLedgerEscrow') },
      status: { document: READ_LEDGER },
    },
    params: AgentPath,
    body: LedgerEscrowRequest,
    complete: body => withAction(body, wordList(ledgerEscrowActions)),
    response: LedgerEscrowNoun,
    errors: [...refusals, 'escrow_amount_mismatch'],
  }),
  documentDoor({
    name: 'list_a2a_escrows',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/a2a-escrow',
    summary: 'List the escrows that the agent is a party of, newest first',
    tags: ['book'],
    possession: 'required',
    field: 'a2aEscrows',
    params: AgentPath,
    query: queryOf(EscrowPage),
    response: A2aEscrowsNoun,
  }),
  documentDoor({
    name: 'a2a_escrow',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/a2a-escrow',
    summary: 'Open, fund, submit, release, claw back, challenge or read an escrow with another agent; no money is held',
    tags: ['book'],
    possession: 'required',
    document: READ_A2A,
    actions: {
      open: { document: a2aOperation('open_a2a_escrow', 'openA2aEscrow'), status: 201 },
      fund: { document: a2aOperation('fund_a2a_escrow', 'fundA2aEscrow'), status: 201 },
      submit: { document: a2aOperation('submit_a2a_escrow', 'submitA2aEscrow') },
      release: { document: a2aOperation('release_a2a_escrow', 'releaseA2aEscrow') },
      clawback: { document: a2aOperation('claw_back_a2a_escrow', 'clawBackA2aEscrow') },
      challenge: { document: a2aOperation('challenge_a2a_escrow', 'challengeA2aEscrow') },
      status: { document: READ_A2A },
    },
    params: AgentPath,
    body: A2aEscrowRequest,
    complete: body => withAction(body, wordList(a2aEscrowActions)),
    response: A2aEscrowNoun,
    errors: [...refusals, 'escrow_backing_used', 'escrow_fulfillment_used'],
  }),
] as const;

/** @throws Refusal invalid_escrow_action, with the actions that exist */
function withAction(body: JsonObject, legal: readonly string[]): JsonObject {
  if (typeof body.action === 'string' && legal.includes(body.action)) return body;
  const detail = `action: must be one of ${legal.join(', ')}`;
  throw new Refusal('invalid_escrow_action', { param: 'action', detail, facts: { legal } });
}

nameComponents({
  EscrowCheck: EscrowCheckNoun,
  LedgerEscrow: LedgerEscrowNoun,
  A2aEscrow: A2aEscrowNoun,
  A2aEscrows: A2aEscrowsNoun,
});
