import { IDEMPOTENCY_HEADER } from '../schema/idempotency-key.ts';
import { PAYER_HEADER } from '../schema/payer-proof.ts';
import { REDELIVERY_HEADER } from '../schema/redeliver-header.ts';
import { DELEGATION_HEADER } from '../schema/session/delegation-header.ts';
import { NOTE_HEADER } from '../schema/session/note-header.ts';

interface Row {
  /** Whether a request to /mcp passes it on to the endpoint of a tool, whose payment is in `_meta`. */
  readonly for_tools: boolean;
}

const passed: Row = { for_tools: true };
const own: Row = { for_tools: false };

/** Headers of requests that are this service's or x402's own, as descriptions spell them, in the order in which CORS lists them. */
const table = {
  [IDEMPOTENCY_HEADER]: passed,
  'PAYMENT-SIGNATURE': own,
  'X-PAYMENT': own,
  'X-API-Key': passed,
  'X-Router-Key': passed,
  'X-SVC-Session': passed,
  'X-SVC-Proof': passed,
  'X-SVC-Nonce': passed,
  'X-SVC-Agent': passed,
  'X-SVC-Intent': passed,
  'X-SVC-Attempt': passed,
  'X-SVC-Parent': passed,
  [REDELIVERY_HEADER]: passed,
  [PAYER_HEADER]: own,
  [DELEGATION_HEADER]: passed,
  [NOTE_HEADER]: passed,
  'X-SVC-Approval': own,
  'X-SVC-Board-Ops': own,
  'X-SVC-Board-Inbound': own,
} as const satisfies Record<string, Row>;

/** Such a header as descriptions spell it. */
export type OwnHeader = keyof typeof table;

const rows = Object.entries(table).map(([name, row]) => ({ ...row, name: name.toLowerCase() }));

/** Their names in lower case, as Node has them. Only programs send them. */
export const ownHeaders: readonly string[] = rows.map(({ name }) => name);

/** Those that a request to /mcp passes on. */
export const toolHeaders: readonly string[] = rows.filter(({ for_tools }) => for_tools).map(({ name }) => name);
