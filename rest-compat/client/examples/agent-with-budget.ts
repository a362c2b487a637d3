/*
 * Gives an agent a budget, is alerted on the way, and handles the signed refusal at its end.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base that is not registered yet
 * (PRIVATE_KEY): it is registered as an agent with a book.
 * Prints: each call with what is left, the alerts, and the refusal with the link by which others can check it.
 */
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import { verify } from 'spend-receipt-gateway/verify';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
/** Atomic USDC, 6 decimals: four calls. */
const [PRICE, ALLOWED] = [2_000n, 8_000n];
const usdc = (atomic: string | bigint) => `${formatUnits(BigInt(atomic), 6)} USDC`;

const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});
const send = (path: string, body: object, headers = {}) =>
  pay(SERVICE_URL + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
async function json<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface Book {
  /** Null without a budget. `available` is what a call may spend now, after those in progress. */
  readonly available: string | null;
  readonly spent: string;
  readonly alerts: readonly { readonly alert: string; readonly ceiling?: string; readonly percent?: number }[];
}
interface Refusal {
  readonly policy_code: string;
  readonly refusal_url: string;
}

const { agent_id, session } = await keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
const book = `/v1/agents/${agent_id}/book`;
// The session opens the book and changes its policies. An agent that is not trusted with that is given the wallet alone.
const owner = { 'X-SVC-Session': session };

// The budget is a ceiling over all that the book has ever collected: what is spent already counts, as the registration.
const { spent } = await json<Book>(await send(book, {}, owner));
await json(await send(book, { budget: String(BigInt(spent) + ALLOWED) }, owner));
// A policy that holds beside it: at most 1 USDC a day (UTC).
await json(await send(`${book}/policy`, { policy_type: 'daily_cap', value: '1000000' }, owner));
await json(await send(`${book}/alerts`, { thresholds_percent: [60, 90] }, owner));
console.log(`agent ${agent_id} may spend ${usdc(ALLOWED)}`);

for (let calls = 1; calls <= ALLOWED / PRICE + 1n; calls++) {
  const messages = [{ role: 'user', content: `Question ${calls}` }];
  const response = await send('/v1/chat/completions', { model: 'svc/auto', messages });
  if (response.status === 403) {
    // Nothing was charged. Sending it again changes nothing: the agent stops, and shows its owner why.
    const refusal = (await response.json()) as Refusal;
    // Not the keys that the refusal names: a forged one names keys of the forger.
    const keys = await json<object>(await fetch(`${SERVICE_URL}/.well-known/jwks.json`));
    const { valid } = verify(refusal as never, keys as never);
    console.log(`call ${calls} was refused: ${refusal.policy_code}`);
    console.log(`refusal (${valid ? 'signature valid' : 'NOT signed by the service'}): ${refusal.refusal_url}`);
    break;
  }
  await json(response);
  const { available } = await json<Book>(await send(book, {}, owner));
  console.log(`call ${calls}: ${available === null ? 'no budget' : `${usdc(available)} left`}`);
}

const { alerts } = await json<Book>(await send(book, {}, owner));
// Newest first. A webhook with the event `alert` brings them as they happen.
for (const { alert, ceiling, percent } of alerts.toReversed())
  console.log(`alert: ${alert}${percent ? ` ${percent} % of ${ceiling}` : ''}`);
// Null lifts a limit.
await json(await send(book, { budget: null }, owner));
await json(await send(`${book}/policy`, { policy_type: 'daily_cap', value: null }, owner));
