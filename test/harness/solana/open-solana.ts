import { freshSvm } from '../svm.ts';

/** A blockhash is known for 150 of them: longer than any test, on whatever machine. */
const SLOT_MS = 10_000;

/** A Solana of one's own and a treasury on it, as a service's environment names them. */
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
