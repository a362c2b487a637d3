import type { JsonObject } from '../../../schema/canonical-json.ts';
import { didDocument } from './did.ts';
import type { Histories } from './histories.ts';
import { historyDocument, keySet, policyHistory } from './history.ts';
import type { Published, Signer } from './keys.ts';

/** What is published of the histories as they are known: made once for each state of them. */
export function publisher(signer: Signer, latest: () => Histories): () => Published {
  let known = latest();
  let made = publish(signer, known);
  return () => {
    if (latest() === known) return made;
    known = latest();
    made = publish(signer, known);
    return made;
  };
}

function publish(signer: Signer, { snapshots, policies }: Histories): Published {
  const { base_url: iss } = signer;
  const history = historyDocument(snapshots, {});
  if (history === null) throw new RangeError('the issuer has no history');
  const sign = (claims: JsonObject) => signer.signJws({ iss, iat: Math.floor(signer.now_ms() / 1000), ...claims });
  return {
    did: { document: didDocument(iss, snapshots), receipt_kid: signer.did_receipt_kid },
    jwks: keySet(snapshots),
    history,
    historySnapshot: wanted => historyDocument(snapshots, wanted),
    policyHistory: policyHistory(policies, sign),
  };
}
