import type { JsonObject } from '../../schema/canonical-json.ts';
import { SCITT_STATEMENT } from '../../schema/cose.ts';
import { VC_JWT } from '../../schema/credential.ts';
import type { Form } from '../answer-forms.ts';
import { memberOperation, receiptDoor, rootMember } from './doors.ts';

/** A receipt in an envelope, as it is: a text, or bytes in base64. */
function envelopeForm(media: string, name: string, member: string): Form {
  const textOf = (data: JsonObject) => {
    const envelope = rootMember(data, member);
    return typeof envelope === 'string' ? envelope : null;
  };
  return { media, document: memberOperation(name, 'receipt', member), textOf };
}

/** The receipt's own endpoint, with the envelopes that others verify among its forms. */
export const envelopedReceiptDoor = receiptDoor({
  forms: {
    cose: envelopeForm(SCITT_STATEMENT, 'get_receipt_statement', 'transparentStatement'),
    vc: envelopeForm(VC_JWT, 'get_receipt_credential', 'verifiableCredential'),
  },
  described: ` \`cose\`: a SCITT transparent statement, ${SCITT_STATEMENT}; \`vc\`: a W3C Verifiable Credential, ${VC_JWT}. Each of these by Accept, too.`,
});
