/*
 * Buys a chat completion with OpenAI's own client: nothing of it changes but its fetch, which pays.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * Prints: the answer, its model and tokens, and the link of the signed receipt.
 */
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import OpenAI from 'openai';
import { PaymentPending, payingFetch } from 'spend-receipt-gateway/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});
// The client requires a key, which the service does not need. It retries by itself: `pay` sends the same payment each time.
const openai = new OpenAI({ baseURL: `${SERVICE_URL}/v1`, apiKey: 'none', fetch: pay });

try {
  const completion = await openai.chat.completions.create({
    model: 'svc/auto',
    messages: [{ role: 'user', content: 'What is a spend receipt?' }],
  });
  // The receipt is a member of the response that OpenAI's types do not know.
  const { svc } = completion as typeof completion & { readonly svc: { readonly verify_url: string } };
  console.log(`answer: ${completion.choices[0]?.message.content}`);
  console.log(`model: ${completion.model}, ${completion.usage?.total_tokens} tokens`);
  console.log(`receipt: ${svc.verify_url}`);
} catch (fault) {
  if (fault instanceof OpenAI.APIConnectionError && fault.cause instanceof PaymentPending)
    console.error(`The outcome of the payment is unknown: ${fault.cause.message}`);
  else if (fault instanceof OpenAI.APIError && fault.status === 402) console.error('Nothing was paid:', fault.error);
  // By a policy of the wallet's book: nothing was charged, and `fault.error` is a signed refusal.
  else if (fault instanceof OpenAI.PermissionDeniedError) console.error(`The call was refused: ${fault.message}`);
  else throw fault;
  process.exitCode = 1;
}
