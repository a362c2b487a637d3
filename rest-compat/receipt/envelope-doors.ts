import type { JsonObject } from '../../schema/canonical-json.ts';
import { SCITT_STATEMENT } from '../../schema/cose.ts';
import { VC_JWT } from '../../schema/credential.ts';
import type { Form } from '../answer-forms.ts';
import { operation } from '../document.ts';
import { receiptDoor, receiptMember } from './doors.ts';

/** What the operation has of the receipt, as it is: a text, or bytes in base64. */
function envelopeForm(media: string, name: string, member: string): Form {
  const textOf = (data: JsonObject) => {
    const envelope = receiptMember(data.receipt, member);
    return typeof envelope === 'string' ? envelope : null;
  };
  return { media, document: operation(name), textOf };
}

/** The receipt's own endpoint, with the envelopes that others verify among its forms. */
export const envelopedReceiptDoor = receiptDoor({
  forms: {
    cose: envelopeForm(SCITT_STATEMENT, 'receipt/get_receipt_statement', 'transparentStatement'),
    vc: envelopeForm(VC_JWT, 'receipt/get_receipt_credential', 'verifiableCredential'),
  },
  described: ` \`cose\`: a SCITT transparent statement, ${SCITT_STATEMENT}; \`vc\`: a W3C Verifiable Credential, ${VC_JWT}. Each of these by Accept, too.`,
});
