import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { verifyMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { PaymentPending, payingFetch } from '../../rest-compat/client/paying-fetch.ts';
import { type RegistrationRefused, registerAgent } from '../../rest-compat/client/register-agent.ts';
import { controlText } from '../../subgraphs/session/registration/control.ts';

/* What our client sends to register a wallet, to a service that is played here. */

const wallet = privateKeyToAccount(generatePrivateKey());
const url = 'https://svc.example';
const registered = { agent_id: 7, agentWallet: wallet.address, session: 'svcs_secret', task_id: 'task_1' };

/** Keeps the requests, and gives the next of these responses, or none. */
function served(...answers: (Response | null)[]) {
  const requests: Request[] = [];
  const pay: typeof fetch = async (input, init) => {
    requests.push(new Request(input, init));
    const answer = answers.shift();
    if (!answer) throw new TypeError('fetch failed');
    return answer;
  };
  return { pay, requests };
}

const refusal = async (answer: Response): Promise<RegistrationRefused> =>
  registerAgent({ pay: served(answer).pay, url, wallet }).catch(fault => fault);

it('signs the text that the service checks, of the present time, and returns agent and session', async () => {
  const { pay, requests } = served(Response.json(registered));
  const before = Math.floor(Date.now() / 1_000);
  expect(await registerAgent({ pay, url: `${url}/`, wallet })).toEqual({ agent_id: 7, session: 'svcs_secret' });
  expect(requests).toMatchObject([{ method: 'POST', url: `${url}/v1/agents/register` }]);
  expect(requests[0]?.headers.get('content-type')).toBe('application/json');
  const { wallet_signature, signature_timestamp, ...others } = JSON.parse((await requests[0]?.text()) ?? '');
  expect(others).toEqual({ agentWallet: wallet.address });
  expect([0, 1, 2]).toContain(signature_timestamp - before);
  const message = controlText(wallet.address, signature_timestamp, null);
  expect(await verifyMessage({ address: wallet.address, message, signature: wallet_signature })).toBe(true);
});

it('a refusal carries status, code and whether it was charged, and says the detail', async () => {
  const problem = { code: 'wallet_registered', detail: 'This wallet is registered already.', charged: false };
  const fault = await refusal(Response.json(problem, { status: 409 }));
  expect(fault).toMatchObject({ name: 'RegistrationRefused', status: 409, code: 'wallet_registered', charged: false });
  expect(fault.message).toBe(
    'the service does not register the wallet: 409 wallet_registered This wallet is registered already.',
  );
});

it.each([
  ['a page of a proxy', '<h1>Bad Gateway</h1>'],
  ['null', 'null'],
  ['nothing', ''],
])('where the body is %s, the code is null', async (_, text) => {
  const fault = await refusal(new Response(text, { status: 502 }));
  expect(fault).toMatchObject({ status: 502, code: null, charged: null });
  expect(fault.message).toBe('the service does not register the wallet: 502');
});

it('after a lost response, the same time sends the same payment, and another would sign a second one', async () => {
  const required = { x402Version: 2, resource: { url }, accepts: [] } as unknown as PaymentRequired;
  const offer = () =>
    new Response('{}', { status: 402, headers: { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader(required) } });
  const { pay: by, requests } = served(offer(), null, Response.json(registered), offer(), Response.json(registered));
  let signed = 0;
  const createPaymentPayload = async () =>
    ({ x402Version: 2, payload: { nonce: ++signed } }) as unknown as PaymentPayload;
  const pay = payingFetch({ payments: { createPaymentPayload }, fetch: by, patience_ms_max: 0 });
  const at_seconds = 1_790_000_000;
  await expect(registerAgent({ pay, url, wallet, at_seconds })).rejects.toThrow(PaymentPending);
  expect(await registerAgent({ pay, url, wallet, at_seconds })).toEqual({ agent_id: 7, session: 'svcs_secret' });
  const [, lost, again] = requests;
  expect(again?.headers.get('payment-signature')).toBe(lost?.headers.get('payment-signature'));
  expect(signed).toBe(1);
  await registerAgent({ pay, url, wallet, at_seconds: at_seconds + 1 });
  expect(signed).toBe(2);
});
