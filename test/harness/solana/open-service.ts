import type { KeyPairSigner } from '@solana/kit';
import type { Hex } from 'viem';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { PaymentHeaders } from '../buyer.ts';
import { type Gate, startGate } from '../doors/gate.ts';
import { ask, CHAT, type Chat, openService } from '../doors/open-service.ts';
import { payloadFor, solanaPayingFetch, solanaPaymentHeaders } from './buyer.ts';
import { openSolana } from './open-solana.ts';

export type SolanaService = Awaited<ReturnType<typeof openSolanaService>>;

interface Payer {
  readonly signer: KeyPairSigner;
}

/** The whole service, which is also paid on a Solana stand-in of its own. Each file calls it once. */
export async function openSolanaService(...[environment = {}, options = {}]: Parameters<typeof openService>) {
  const { svm, treasury, environment: solana } = await openSolana();
  const gate: Gate = await startGate(svm.rpc_url);
  const service = await openService({ ...solana, SOLANA_RPC_URL: gate.url, ...environment }, options);
  return {
    ...service,
    svm,
    /** A gate in front of Solana's RPC. */
    gate,
    treasury,
    /** A chat, paid on Solana by the official client. */
    buyOnSolana: ({ signer }: Payer, body: JsonObject = ask(), headers: PaymentHeaders = {}, version: 1 | 2 = 2) =>
      service.knock<Chat>('POST', CHAT, { body, headers, by: solanaPayingFetch(svm, signer, version) }),
    /** A payment on Solana for an endpoint, made by the official client and not sent yet. */
    paymentOnSolana: async ({ signer }: Payer, path = CHAT): Promise<PaymentHeaders> =>
      solanaPaymentHeaders(await payloadFor(svm, signer, service.url + path)),
    /** All claims of that wallet, in any state. */
    claimsOf: ({ address }: { readonly address: string }) => service.claimsOf({ address: address as Hex }),
    /** Transfers from that wallet to the treasury, oldest first. */
    async movedFrom({ address }: { readonly address: string }) {
      const transfers = await svm.transfers(treasury);
      return transfers.filter(({ from }) => from === address);
    },
  };
}
