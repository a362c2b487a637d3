/*
 * Makes a book ask before it pays: a call is refused, its owner approves that very call, and it passes once.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base that is not registered yet
 * (PRIVATE_KEY): it is registered as an agent with a book.
 * Prints: the refusal, what the owner is shown and signs, and the answer with its receipt.
 */
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});
const seconds = () => Math.floor(Date.now() / 1000);
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

const { agent_id, session } = await keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
const book = `/v1/agents/${agent_id}/book`;
const owner = { 'X-SVC-Session': session };
const setPolicy = async (policy_type: string, value: unknown) =>
  json(await send(`${book}/policy`, { policy_type, value }, owner));

// Every charge above 0 atomic USDC now needs an approval.
await setPolicy('tier2_above', '0');

const call = { model: 'svc/auto', messages: [{ role: 'user', content: 'Book the flight for 12,000 USD?' }] };
// The note is the caller's own word. The owner sees it beside what is asked for.
const ask = () => send('/v1/chat/completions', call, { 'X-SVC-Note': 'Asks before a large purchase.' });

const refused = await ask();
if (refused.status !== 403) throw new Error(`the call was not refused: ${refused.status}`);
const { policy_code, refusal_url } = (await refused.json()) as { policy_code: string; refusal_url: string };
console.log(`refused: ${policy_code}, nothing was charged, ${refusal_url}`);

// What follows is done by a person, usually at the page /approvals of the service with a wallet of the browser.
interface Approval {
  readonly approval_id: string;
  readonly request_hash: string;
  readonly amount: string;
  readonly request_text: string | null;
  readonly note: string | null;
}
const { approvals } = await json<{ approvals: Approval[] }>(
  await fetch(`${SERVICE_URL}${book}/approvals`, { headers: owner }),
);
const [approval] = approvals;
if (approval === undefined) throw new Error('no call waits for an approval');
const { approval_id, request_hash, amount, request_text, note } = approval;
console.log(`waits for an approval: ${formatUnits(BigInt(amount), 6)} USDC (${note})`);
console.log(`the request: ${JSON.stringify(request_text)}`);

// Only the book's own wallet decides: its session shows requests, and answers none. The text names service, request and time.
const at = seconds();
const text = `svc.approval.approve|${SERVICE_URL}|${approval_id}|${request_hash}|${at}`;
const answer = {
  decision: 'approve',
  wallet_signature: await wallet.signMessage({ message: text }),
  signature_timestamp: at,
};
await json(await send(`${book}/approvals/${approval_id}`, answer));
console.log(`signed: ${text}`);

// The very same call passes, once. Any other call is asked for again.
const { svc, choices } = await json<{ svc: { verify_url: string }; choices: { message: { content: string } }[] }>(
  await ask(),
);
console.log(`answer: ${choices[0]?.message.content}`);
console.log(`receipt: ${svc.verify_url}`);
await setPolicy('tier2_above', null);
