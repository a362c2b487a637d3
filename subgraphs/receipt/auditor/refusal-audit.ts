import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { iso } from '../../clock.ts';
import type { ReceiptContext } from '../context.ts';
import { refusalDocument } from '../refusal/document.ts';
import type { SignedRefusal } from '../refusal/refusal.entity.ts';
import { refusalChecks, refusalDoesNotProve, refusalProves } from './sentences.ts';

/** All that an auditor needs of one refusal (GET /refusal/{refusal_id}?format=auditor). A refusal is no leaf of the log. */
export async function refusalAudit(refusal: SignedRefusal, context: ReceiptContext): Promise<JsonObject> {
  const { issuer, base_url, clock } = context;
  await issuer.renew();
  return present({
    schema: documents.refusal_audit,
    as_of: iso(clock.now_ms()),
    refusal: refusalDocument(refusal, base_url),
    preimage: refusal.payload,
    keys: issuer.jwks,
    issuer_history: issuer.historySnapshot({}),
    proves: [...refusalProves],
    does_not_prove: [...refusalDoesNotProve],
    checks: [...refusalChecks],
  });
}
