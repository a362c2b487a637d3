/*
 * Grants an agent's key a session with a cap, and watches it end: by the cap, and by a revocation.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * Prints: two calls under the grant, the third that would pass its cap, what the agent reads of its session, and the status
 * after the revocation.
 */
import { randomBytes } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { formatUnits, type Hex, hashTypedData, zeroHash } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
/** Atomic USDC, 6 decimals: two calls of 0.002 USDC. */
const CAP = 4_000n;
const seconds = () => Math.floor(Date.now() / 1000);
const random32 = (): Hex => `0x${randomBytes(32).toString('hex')}`;

// Two keys: the payer's holds the money, the agent's holds nothing and signs what the agent does.
const payer = privateKeyToAccount(PRIVATE_KEY as Hex);
const agent = privateKeyToAccount(generatePrivateKey());

async function json<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
const send = (path: string, body: object, headers = {}, by = fetch) =>
  by(SERVICE_URL + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

// What is signed is published: an EIP-712 domain, which names this service, and its types.
const { domain, types } = await json<{ domain: object; types: Types }>(await fetch(`${SERVICE_URL}/v1/sessions/types`));
interface Types {
  readonly [type: string]: readonly { readonly name: string; readonly type: string }[];
}

const grant = {
  payer: payer.address,
  agentPubkey: agent.publicKey,
  capAtomic: String(CAP),
  validAfter: seconds() - 60,
  sessionExpiry: seconds() + 3_600,
  parentDelegationHash: zeroHash,
  models: ['svc/auto'],
  doors: ['chat_completions'],
  salt: random32(),
};
const typed = { domain, types, primaryType: 'AuthorizeSession', message: grant } as const;
const signature = await payer.signTypedData(typed);
const session = `/v1/sessions/${hashTypedData(typed)}`;
// The grant comes beside each payment. The first payment binds it.
const shown = { 'X-SVC-Delegation': Buffer.from(JSON.stringify({ grant, signature })).toString('base64url') };

// The payer's wallet pays by x402. A session only limits payments; it holds no money.
const pay = payingFetch({ payments: new x402Client().register('eip155:*', new ExactEvmScheme(payer)) });
for (let call = 1; call <= 3; call++) {
  const messages = [{ role: 'user', content: `Question ${call}` }];
  const response = await send('/v1/chat/completions', { model: 'svc/auto', messages }, shown, pay);
  // 403 session_cap_exceeded: the call would pass the cap. Nothing was charged.
  if (response.status === 403) console.log(`call ${call}: ${((await response.json()) as { code: string }).code}`);
  else console.log(`call ${call}: paid, ${(await json<{ svc: { verify_url: string } }>(response)).svc.verify_url}`);
}

// The agent proves itself by its own key: each act is signed, for one resource, and is done once.
const act = { action: 'read_private', resource: 'session', nonce: random32(), deadline: seconds() + 200 };
const acting = { delegationHash: hashTypedData(typed), ...act, targetAgent: 0, payloadHash: zeroHash };
const signed = await agent.signTypedData({ domain, types, primaryType: 'SessionAct', message: acting });
const { read } = await json<{ read: { detail: { spent: string; remaining: string } } }>(
  await send(`${session}/act`, { ...act, signature: signed }),
);
console.log(`the agent reads: spent ${formatUnits(BigInt(read.detail.spent), 6)} USDC, ${read.detail.remaining} left`);

// The payer ends it at once, and all sessions below it.
const at = seconds();
const message = { delegationHash: hashTypedData(typed), at };
const revocation = await payer.signTypedData({ domain, types, primaryType: 'RevokeSession', message });
await json(await send(`${session}/revoke`, { at, signature: revocation }));
console.log(`status: ${(await json<{ status: string }>(await fetch(SERVICE_URL + session))).status}`);
