import { ed25519 } from '@noble/curves/ed25519';
import { getBase58Decoder } from '@solana/kit';
import fc from 'fast-check';
import { english } from 'viem/accounts';

/* Keys and tokens in the form in which their issuers make them. */

/** An arbitrary for that many characters of an alphabet. */
const some = (chars: string, length: number) =>
  fc.array(fc.constantFrom(...chars), { minLength: length, maxLength: length }).map(all => all.join(''));

const DIGITS = '0123456789';
export const HEX = `${DIGITS}abcdef`;
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const ALNUM = `${DIGITS}${UPPER}${UPPER.toLowerCase()}`;
const URL64 = `${ALNUM}-_`;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
export const key = (...parts: readonly (string | readonly [chars: string, length: number])[]) =>
  fc.tuple(...parts.map(part => (typeof part === 'string' ? fc.constant(part) : some(...part)))).map(it => it.join(''));

/** Arbitrary keys by issuer. They are written down from the issuers' documents, independently of the patterns that find keys. */
export const keys: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'OpenAI, of a project': key('sk-proj-', [URL64, 74], 'T3BlbkFJ', [URL64, 74]),
  'OpenAI, of before': key('sk-', [ALNUM, 20], 'T3BlbkFJ', [ALNUM, 20]),
  Anthropic: key('sk-ant-api03-', [URL64, 93], 'AA'),
  OpenRouter: key('sk-or-v1-', [HEX, 64]),
  'AWS, lasting': key('AKIA', [BASE32, 16]),
  'AWS, for a while': key('ASIA', [BASE32, 16]),
  GitHub: key('ghp_', [ALNUM, 36]),
  'GitHub, fine-grained': key('github_pat_', [ALNUM, 22], '_', [ALNUM, 59]),
  GitLab: key('glpat-', [URL64, 20]),
  Slack: key('xoxb-', [DIGITS, 12], '-', [DIGITS, 12], '-', [ALNUM, 24]),
  Stripe: key('sk_live_', [ALNUM, 24]),
  'Stripe, restricted': key('rk_test_', [ALNUM, 99]),
  Google: key('AIza', [URL64, 35]),
  'Hugging Face': key('hf_', [ALNUM, 34]),
  npm: key('npm_', [ALNUM, 36]),
  PyPI: key('pypi-AgEIcHlwaS5vcmc', [URL64, 120]),
  SendGrid: key('SG.', [URL64, 22], '.', [URL64, 43]),
  Twilio: key('SK', [HEX, 32]),
  Mailgun: key('key-', [HEX, 32]),
  Telegram: key([DIGITS, 10], ':AA', [URL64, 33]),
  Discord: key('MT', [ALNUM, 24], '.', [ALNUM, 6], '.', [URL64, 38]),
  DigitalOcean: key('dop_v1_', [HEX, 64]),
  Shopify: key('shpat_', [HEX, 32]),
  Square: key('sq0csp-', [URL64, 43]),
  'Square, of an access': fc.noBias(key('EAAA', [URL64, 60])),
  Groq: key('gsk_', [ALNUM, 52]),
  xAI: key('xai-', [ALNUM, 80]),
  Perplexity: key('pplx-', [ALNUM, 48]),
  Replicate: key('r8_', [ALNUM, 37]),
  Databricks: key('dapi', [HEX, 32]),
  'a session of ours': key('svcs_', [URL64, 43]),
  'a slice token of ours': key('svca_', [URL64, 43], [HEX, 8]),
  'a key of a router book': key('svcr_', [URL64, 43], [HEX, 8]),
  'a key that this service has made': fc.oneof(
    key('svc_live_', [HEX, 48]),
    key('svc_demo_', [HEX, 48]),
    key('svc_waiver_', [HEX, 48]),
  ),
  NVIDIA: key('nvapi-', [ALNUM, 64]),
  Pinecone: key('pcsk_', [ALNUM, 60]),
  Docker: key('dckr_pat_', [ALNUM, 27]),
  Tavily: key('tvly-', [ALNUM, 32]),
  LangSmith: key('lsv2_pt_', [HEX, 32], '_', [HEX, 10]),
  RubyGems: key('rubygems_', [HEX, 48]),
  Shippo: key('shippo_live_', [HEX, 40]),
  Dynatrace: key('dt0c01.', [ALNUM, 24], '.', [ALNUM, 64]),
  Pulumi: key('pul-', [HEX, 40]),
  Terraform: key([ALNUM, 14], '.atlasv1.', [ALNUM, 60]),
  ElevenLabs: key('sk_', [HEX, 48]),
  Resend: key('re_', [ALNUM, 8], '_', [ALNUM, 24]),
  'Slack, the path of a hook': key('T', [ALNUM, 9], '/B', [ALNUM, 9], '/', [ALNUM, 24]),
  'AWS, as it is set': key('aws_secret_access_key = ', [`${ALNUM}/+`, 40]),
  'a webhook secret': key('whsec_', [ALNUM, 44]),
  'a private key in hex': key('private key: 0x', [HEX, 64]),
  'the same without a prefix': key('PK=', [HEX, 64]),
  'a private key of Solana': fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map(seed => getBase58Decoder().decode(Buffer.concat([seed, ed25519.getPublicKey(seed)]))),
  'a private key of Bitcoin': fc.oneof(key('5', [BASE58, 50]), key('K', [BASE58, 51]), key('L', [BASE58, 51])),
  PEM: key('-----BEGIN EC PRIVATE KEY-----\n', [ALNUM, 64]),
  JWT: key('eyJhbGciOiJFUzI1NiJ9.eyJ', [URL64, 60], '.', [URL64, 86]),
  'a seed phrase': fc
    .array(fc.constantFrom(...english), { minLength: 12, maxLength: 24 })
    .map(words => words.join(' ')),
  'a seed phrase in a list': fc
    .array(fc.constantFrom(...english), { minLength: 12, maxLength: 12 })
    .map(words => words.map((word, at) => `${at + 1}. ${word}`).join('\n')),
};
