/*
 * Buys a chat completion as a stream, and asks again with the same payment if the stream breaks off.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * Prints: the answer piece by piece as it arrives, and the link of the signed receipt, which comes with the last piece.
 */
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { payingFetch } from 'spend-receipt-gateway/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
const TRIES = 3;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});

interface Piece {
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
  readonly svc?: { readonly verify_url: string };
  /** In place of [DONE] if the stream broke off. It has been paid for: its payment brings the answer again. */
  readonly error?: { readonly message: string };
}

/** Asks for the chat, the same one each time. @throws PaymentPending */
const ask = () =>
  pay(`${SERVICE_URL}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'svc/auto',
      messages: [{ role: 'user', content: 'What is a spend receipt?' }],
      stream: true,
    }),
  });

/** Prints one stream, and returns the link of its receipt. @throws Error if the stream breaks off */
async function listen(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let receipt = '';
  for await (const { data } of body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
    if (data === '[DONE]') return receipt;
    const { choices, svc, error } = JSON.parse(data) as Piece;
    if (error) throw new Error(error.message);
    process.stdout.write(choices?.[0]?.delta.content ?? '');
    receipt = svc?.verify_url ?? receipt;
  }
  // A proxy may end a stream as if it were complete. Only [DONE] says that it is.
  throw new Error('the connection was cut');
}

for (let tries = 1; ; tries++) {
  const response = await ask();
  // Nothing of the answer was sent, and asking again would change nothing.
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  try {
    console.log(`\nreceipt: ${await listen(response.body)}`);
    break;
  } catch (fault) {
    if (tries === TRIES) throw fault;
    // `pay` has kept the payment of a stream that broke off, and sends the same request with it: nothing is paid twice.
    console.error(`\n${fault instanceof Error ? fault.message : fault}; asking again with the same payment`);
  }
}
