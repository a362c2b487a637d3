/*
 * Buys one chat completion for 0.002 USDC over x402, by fetch alone.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * Prints: the answer, what was paid in which transaction, and the link of the signed receipt.
 */
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { PaymentPending, payingFetch } from 'spend-receipt-gateway/client';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
// Make one for each wallet and keep it: it remembers payments whose outcome is open, so that none is made twice.
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  /** Amounts are strings of digits in atomic USDC: 6 decimals. */
  readonly svc: { readonly amount: string; readonly payment_ref: string; readonly verify_url: string };
}
/** RFC 9457. `error` says in a 402 why the payment was not accepted; `refusal_url` leads to a signed refusal. */
interface Problem {
  readonly detail?: string;
  readonly error?: string;
  readonly refusal_url?: string;
}

try {
  // The first response is a 402 with the price. `pay` signs a payment for it and sends the request again with it.
  const response = await pay(`${SERVICE_URL}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/auto', messages: [{ role: 'user', content: 'What is a spend receipt?' }] }),
  });
  if (response.ok) {
    const { choices, svc } = (await response.json()) as Completion;
    console.log(`answer: ${choices[0]?.message.content}`);
    console.log(`paid ${formatUnits(BigInt(svc.amount), 6)} USDC in ${svc.payment_ref}`);
    console.log(`receipt: ${svc.verify_url}`);
  } else {
    const { detail, error, refusal_url } = (await response.json()) as Problem;
    if (response.status === 402) console.error(`Nothing was paid: ${error}`);
    else if (refusal_url) console.error(`A policy of the wallet's book refused the call, signed at ${refusal_url}`);
    else console.error(`${response.status}: ${detail}`);
    process.exitCode = 1;
  }
} catch (fault) {
  if (!(fault instanceof PaymentPending)) throw fault;
  // 503 settlement_pending, or no response, for five minutes: money may have moved, so no other payment must be signed.
  // Keep `fault.payment` where secrets are kept, and start the next time with payingFetch({ …, kept: [payment] }).
  console.error(`The outcome of the payment is unknown: ${fault.message}`);
  process.exitCode = 1;
}
