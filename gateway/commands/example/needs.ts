/*
 * The programs of rest-compat/client/examples, and the variables that each reads from the environment in addition to SERVICE_URL.
 */

export interface ExampleNeeds {
  /** Names of the variables with private keys of wallets that pay. */
  readonly keys: readonly ('PRIVATE_KEY' | 'WORKER_KEY')[];
  /**
   * Use of SESSION, a session of a book. `in_place_of_key`: with it the example only reads that book and needs no key. `with_key`:
   * the key's wallet has to be the owner of that book.
   */
  readonly session: 'unused' | 'in_place_of_key' | 'with_key';
}

const wallet: ExampleNeeds = { keys: ['PRIVATE_KEY'], session: 'unused' };
const reader: ExampleNeeds = { keys: ['PRIVATE_KEY'], session: 'in_place_of_key' };
const payerOfBook: ExampleNeeds = { keys: ['PRIVATE_KEY'], session: 'with_key' };

/** Needs by the name of the example's file, in the order of the list. */
export const exampleNeeds: ReadonlyMap<string, ExampleNeeds> = new Map([
  ['agent-with-budget', wallet],
  ['approve-call', wallet],
  ['buy-chat', wallet],
  ['buy-with-anthropic-sdk', wallet],
  ['buy-with-openai-sdk', wallet],
  ['dashboard-apollo', payerOfBook],
  ['delegate-session', wallet],
  ['follow-book', reader],
  ['hire-an-agent', { keys: ['PRIVATE_KEY', 'WORKER_KEY'], session: 'unused' }],
  ['mcp-agent', wallet],
  ['reconcile-month', reader],
  ['stream', wallet],
  ['verify-receipt', { keys: [], session: 'unused' }],
  ['webhook-receiver', payerOfBook],
]);
