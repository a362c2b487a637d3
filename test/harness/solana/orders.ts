import { createHash } from 'node:crypto';
import { getBase64Encoder, getTransactionDecoder } from '@solana/kit';
import { solanaClaimKey } from '../../../gateway/rails/solana/authorization.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Sendable } from '../faults/buyer.ts';
import type { Ground } from '../faults/ground.ts';
import { makeTransaction } from './wallet.ts';

/** A wallet with USDC on Solana that pays by x402 v1. It signs without an x402 library, so that a test has the payment itself. */
export async function newSolanaBuyer({ solana }: Pick<Ground, 'solana'>) {
  if (!solana) throw new Error('this ground has no Solana');
  const { svm, treasury: pay_to } = solana;
  const { address, signer: payer } = await svm.newWallet();
  const pay = async (request: JsonObject): Promise<Sendable> => {
    const { value } = await svm.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const made = { payer, fee_payer: svm.fee_payer.address, pay_to, blockhash: value.blockhash };
    const transaction = await makeTransaction(made);
    const envelope = { x402Version: 1, scheme: 'exact', network: 'solana', payload: { transaction } };
    return {
      path: '/v1/chat/completions',
      body: JSON.stringify(request),
      payment: Buffer.from(JSON.stringify(envelope)).toString('base64'),
      claim_key: solanaClaimKey({ message_hash: messageHash(transaction) }),
    };
  };
  const chatOf = (content: string) => ({ model: 'test/model', messages: [{ role: 'user', content }] });
  return {
    address,
    chat: (content: string) => pay(chatOf(content)),
    stream: (content: string) => pay({ ...chatOf(content), stream: true }),
  };
}

function messageHash(transaction: string): string {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  return createHash('sha256').update(Buffer.from(messageBytes)).digest('hex');
}
