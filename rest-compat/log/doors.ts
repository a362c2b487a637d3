import { z } from 'zod';
import { isJsonObject } from '../../schema/canonical-json.ts';
import {
  BundleRequest,
  CheckpointRequest,
  ConsistencyRequest,
  InclusionRequest,
  ReceiptPath,
  TileRequest,
} from '../../schema/requests/receipt.ts';
import { InclusionProofNoun } from '../../schema/result-proof.ts';
import { nameComponents } from '../answer-shapes.ts';
import { KEPT_FOR_GOOD, OCTETS } from '../bytes-cache.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const ConsistencyAnswer = z
  .array(Hash)
  .describe('Hashes (SHA-256, in hex) of the consistency proof, in the order of RFC 9162 §2.1.4.');

nameComponents({ InclusionProof: InclusionProofNoun, ConsistencyProof: ConsistencyAnswer });

/** Every follower of the log reads the newest head, so a shared cache may keep it for as long as a batch waits. */
const KEPT_A_MOMENT = 'public, max-age=2';

const TEXT = 'text/plain; charset=utf-8';

/** The path of a tile has several segments if its index has more than three digits. */
function restAsPath(params: unknown): unknown {
  if (!isJsonObject(params) || !('*' in params)) return params;
  const { '*': path, ...others } = params;
  return { ...others, path };
}

const Bytes = z.string().describe('Bytes of the file, in the format of C2SP tlog-tiles.');

/** The receipt log by C2SP (https://c2sp.org/tlog-tiles), and its proofs as JSON. */
export const logDoors = [
  documentDoor({
    name: 'get_log_checkpoint',
    methods: ['GET'],
    path: '/log/checkpoint',
    summary: 'Get the newest or an older tree head of the receipt log as a signed note (C2SP tlog-checkpoint)',
    tags: ['log'],
    media: TEXT,
    field: 'logCheckpoint',
    cache: KEPT_A_MOMENT,
    query: queryOf(CheckpointRequest),
    response: z.string(),
    errors: ['not_found', 'unavailable'],
  }),
  documentDoor({
    name: 'get_log_verifier_keys',
    methods: ['GET'],
    path: '/log/verifier-keys',
    summary: 'List the keys that verify checkpoints (C2SP signed-note), the current one first',
    tags: ['log'],
    media: TEXT,
    field: 'logVerifierKeys',
    cache: 'public, max-age=60',
    response: z.string(),
  }),
  documentDoor({
    name: 'get_log_tile',
    methods: ['GET'],
    path: '/log/tile/{level}/{path}',
    aliases: ['/log/tile/{level}/*'],
    summary: 'Get a tile of up to 256 hashes of the receipt log (C2SP tlog-tiles)',
    tags: ['log'],
    media: OCTETS,
    field: 'logTile',
    cache: KEPT_FOR_GOOD,
    params: z.preprocess(restAsPath, TileRequest),
    response: Bytes,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'get_log_entries',
    methods: ['GET'],
    path: '/log/tile/entries/{path}',
    aliases: ['/log/tile/entries/*'],
    summary: 'Get the public entries of a tile of the receipt log (C2SP tlog-tiles, entry bundle)',
    tags: ['log'],
    media: OCTETS,
    field: 'logEntryBundle',
    cache: KEPT_FOR_GOOD,
    params: z.preprocess(restAsPath, BundleRequest),
    response: Bytes,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_log_proof',
    methods: ['GET'],
    path: '/log/proof/{task_id}',
    summary: 'Prove that a receipt is in the log, as a text to store with it (C2SP tlog-proof)',
    tags: ['log'],
    media: TEXT,
    field: 'logProof',
    params: ReceiptPath,
    response: z.string(),
    errors: ['not_found', 'record_damaged', 'unavailable'],
  }),
  documentDoor({
    name: 'get_log_inclusion',
    methods: ['GET'],
    path: '/log/inclusion',
    summary: 'Prove that a receipt is in the log, as JSON (RFC 9162 §2.1.3)',
    tags: ['log'],
    field: 'inclusionProof',
    query: queryOf(InclusionRequest),
    response: InclusionProofNoun,
    errors: ['not_found', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_log_consistency',
    methods: ['GET'],
    path: '/log/consistency',
    summary: 'Prove that one tree head of the log extends another (RFC 9162 §2.1.4)',
    tags: ['log'],
    field: 'consistencyProof',
    query: queryOf(ConsistencyRequest),
    response: ConsistencyAnswer,
  }),
] as const;
