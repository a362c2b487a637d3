/*
 * How secrets look, as data: kept in the form of those who issue them, so that one is known when it is seen. A format that is
 * new or has changed is a row here.
 */

export interface SecretFormat {
  readonly issuer: string;
  readonly spelling: RegExp;
}

const format = (issuer: string, spelling: RegExp): SecretFormat => ({ issuer, spelling });

/** Keys and tokens of well-known issuers. */
export const issuedSecrets: readonly SecretFormat[] = [
  format('OpenAI', /sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{32,}/),
  format('Anthropic', /sk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{32,}/),
  format('OpenRouter', /sk-or-v1-[0-9a-f]{64}/),
  format('AWS', /(?<![A-Z0-9])(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z2-7]{16}(?![A-Z0-9])/),
  format('GitHub', /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{36,}/),
  format('GitLab', /gl(?:pat|dt|ptt|rt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{20,}/),
  format('Slack', /xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+/),
  format('Stripe', /(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,}/),
  format('Google', /AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28}/),
  format('Hugging Face', /(?<![A-Za-z0-9])(?:hf|api_org)_[A-Za-z0-9]{30,}/),
  format('npm', /npm_[A-Za-z0-9]{36}/),
  format('PyPI', /pypi-[A-Za-z0-9_-]{50,}/),
  format('SendGrid', /SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}/),
  format('Twilio', /(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])/),
  format('Mailgun', /(?<![A-Za-z0-9])(?:key|pubkey)-[0-9a-f]{32}/),
  format('Telegram', /(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}/),
  format('Discord', /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}/),
  format('DigitalOcean', /do[opr]_v1_[0-9a-f]{64}/),
  format('Shopify', /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/),
  // A hash in large letters may begin with EAAA too.
  format(
    'Square',
    /sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|(?<![A-Za-z0-9])EAAA(?![0-9A-F]{60}(?![A-Za-z0-9_-]))[A-Za-z0-9_-]{56,}/,
  ),
  format('Groq', /gsk_[A-Za-z0-9]{32,}/),
  format('xAI', /xai-[A-Za-z0-9]{40,}/),
  format('Perplexity', /pplx-[A-Za-z0-9]{32,}/),
  format('Replicate', /(?<![A-Za-z0-9])r8_[A-Za-z0-9]{37,}/),
  format('Databricks', /dapi[0-9a-f]{32}/),
  format('Linear', /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/),
  format('Notion', /(?<![A-Za-z0-9])(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})/),
  format('HashiCorp Vault', /(?<![A-Za-z0-9])(?:hv[sbr]\.[A-Za-z0-9_-]{24,}|s\.[A-Za-z0-9]{24}(?![A-Za-z0-9]))/),
  format('Atlassian', /ATATT3[A-Za-z0-9_=-]{60,}/),
  format('Tailscale', /tskey-[a-z]+-[A-Za-z0-9-]{16,}/),
  format('Fly.io', /FlyV1 fm\d_[A-Za-z0-9+/=,_-]{40,}|(?<![A-Za-z0-9])fo1_[\w-]{43}/),
  format('Grafana', /gl(?:c|sa)_[A-Za-z0-9+/_]{32,}={0,2}/),
  format('New Relic', /NRAK-[A-Z0-9]{27}/),
  format('Sentry', /sntry[su]_[A-Za-z0-9+/=_]{40,}/),
  format('Postman', /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/),
  format('PlanetScale', /pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}/),
  format('Supabase', /sbp_[0-9a-f]{40}/),
  format('Cloudflare', /v1\.0-[0-9a-f]{24}-[0-9a-f]{146}/),
  format('Azure', /AccountKey=[A-Za-z0-9+/]{43,88}={0,2}/),
  format('Coinbase', /organizations\/[0-9a-f-]{36}\/apiKeys\/[0-9a-f-]{36}/),
  format('NVIDIA', /nvapi-[A-Za-z0-9_-]{32,}/),
  format('Pinecone', /pcsk_[A-Za-z0-9_]{32,}/),
  format('Docker', /dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}/),
  format('Tavily', /tvly-[A-Za-z0-9-]{24,}/),
  format('LangSmith', /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/),
  format('RubyGems', /rubygems_[0-9a-f]{48}/),
  format('Shippo', /shippo_(?:live|test)_[0-9a-f]{40}/),
  format('Dynatrace', /dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,}/),
  format('Pulumi', /pul-[0-9a-f]{40}/),
  format('Terraform', /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}/),
  format('ElevenLabs', /sk_[0-9a-f]{48}/),
  format('Resend', /(?<![A-Za-z0-9])re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}/),
  format('Slack, a hook', /(?<![A-Za-z0-9])T[A-Za-z0-9]{8,11}\/B[A-Za-z0-9]{8,11}\/[A-Za-z0-9]{24}/),
  format('Cerebras', /csk-[a-z0-9]{40,}/),
  format('Doppler', /dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,}/),
  format('Heroku', /HRKU-[A-Za-z0-9_-]{36,}/),
  format('Airtable', /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/),
  format('Bitbucket', /ATBB[A-Za-z0-9]{32}/),
  format('Azure, an application', /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/),
  // Sessions, keys of router books, slice tokens, and the keys that it makes where none are configured.
  format('this service', /(?<![A-Za-z0-9])svc(?:[a-z]|_(?:live|demo|waiver))_[A-Za-z0-9_-]{32,}/),
];

/** Private keys, and credentials of any issuer. */
export const otherSecrets: readonly SecretFormat[] = [
  format('PEM', /-----\s?BEGIN[A-Z0-9 ]{0,40}PRIVATE\s?KEY/i),
  // A SHA-256 and the hash of a transaction look the same as a key: one that is called a key is taken for one.
  format(
    'hex',
    /(?<![a-z])(?:private|secret|signing|wallet|seed|mnemonic|priv|keys?|pk|sk)(?![a-z])[^\n]{0,32}?(?:(?<![0-9a-f])|(?<=%[0-9a-f]{2}))(?:0x)?[0-9a-f]{64}(?![0-9a-f])/i,
  ),
  // Between any letters and digits: the digits of a hash between two zeros have the same form.
  format('WIF', /(?<![A-Za-z0-9])[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}(?![A-Za-z0-9])/),
  format('BIP-32', /(?<![A-Za-z0-9])[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{107}/),
  format('Nostr', /(?<![A-Za-z0-9])nsec1[02-9ac-hj-np-z]{58}/),
  format('age', /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}/i),
  format('JWT', /(?<![A-Za-z0-9_-])ey[IJ][A-Za-z0-9_-]{10,}\.ey[IJ][A-Za-z0-9_-]{10,}/),
  format(
    'a setting',
    /(?:secret|private|access|api|auth)[\w .-]{0,24}(?:key|token)["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9/+_-]{32,}/i,
  ),
  // As a wallet of Solana keeps it: bytes in a list.
  format('bytes', /(?<![\d.])(?:\d{1,3}\s?[,;\s]\s?){31}\d{1,3}(?![\d.])/),
  format('basic or bearer', /(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{24,}/i),
];
