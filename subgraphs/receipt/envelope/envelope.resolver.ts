import 'reflect-metadata';
import { Ctx, Directive, FieldResolver, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { receiptCredential } from '../../../schema/credential.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { ReceiptContext } from '../context.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { Receipt } from '../receipt/receipt.entity.ts';
import { KeptSignatures, signCredential, transparentStatement } from './sign.ts';

/** Signed credentials, about 6 KB each. */
const credentials = new KeptSignatures<{ readonly jwt: string }>(1_024);

/** A receipt as a W3C Verifiable Credential 2.0, secured as `vc+jwt`. */
function verifiableCredential(issuer: Issuer, { payload, payloadHash }: Receipt): string {
  return credentials.once(issuer, payloadHash, iat => {
    const { base_url, did_web } = issuer;
    const facts = { base_url, issuer: did_web, payload_hash: payloadHash };
    return { jwt: signCredential(issuer, receiptCredential(JSON.parse(payload) as JsonObject, facts), iat) };
  }).jwt;
}

/** Envelopes of a receipt besides its JWS. Each is signed on the first request for it. */
@Resolver(() => Receipt)
export class EnvelopeResolver {
  /** The cost is that of about four SQL statements, each of O(log n) rows. */
  @Directive('@cost(weight: 50)')
  @FieldResolver(() => String, {
    description:
      'SCITT transparent statement (RFC 9943), in base64: a COSE_Sign1 over the canonical payload, with the COSE receipt of the log (RFC 9942).',
  })
  async transparentStatement(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): Promise<string> {
    requireInForce(context.issuer);
    const stated = await transparentStatement(context, receipt);
    if (stated.kind !== 'stated')
      throw new Refusal('unavailable', {
        detail: 'The receipt log is halted, so no statement about it is made. Try again later.',
      });
    return Buffer.from(stated.bytes).toString('base64');
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => String, {
    description: 'A W3C Verifiable Credential 2.0, secured by JOSE (`vc+jwt`): the payload, its hash and its issuer.',
  })
  verifiableCredential(@Root() receipt: Receipt, @Ctx() { issuer }: ReceiptContext): string {
    requireInForce(issuer);
    return verifiableCredential(issuer, receipt);
  }
}

/** @throws Refusal unavailable if the key of this process no longer signs: another process of the fleet signs with the next key */
function requireInForce({ standing }: Issuer): void {
  if (standing !== 'in_force')
    throw new Refusal('unavailable', { detail: 'The signing key of this process has been replaced. Try again later.' });
}
