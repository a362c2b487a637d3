import { type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import type { WitnessConfig } from '../../config/variables.ts';

/** Who is asked to cosign the log's heads. */
export interface LogWitness {
  readonly url: string;
  readonly key: VerifierKey;
}

/** Of the variable, which has been found to hold keys. */
export function openWitnesses(witnesses: readonly WitnessConfig[] | null): LogWitness[] {
  return (witnesses ?? []).flatMap(({ url, key: text }) => {
    const key = verifierKey(text);
    return key ? [{ url, key }] : [];
  });
}
