import { freshSvm } from '../svm.ts';

/** Length of a slot. A blockhash is valid for 150 slots, and thus longer than any test takes. */
const SLOT_MS = 10_000;

/** A Solana stand-in and a treasury on it, with the settings by which a service uses them. */
export async function openSolana() {
  const svm = await freshSvm();
  await svm.pace(SLOT_MS);
  const treasury = await svm.newTreasury();
  return {
    svm,
    treasury,
    environment: {
      SOLANA_RPC_URL: svm.rpc_url,
      PAY_TO_SOLANA: treasury,
      SOLANA_FEE_PAYER_KEY: svm.fee_payer.private_key,
    },
  };
}
