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
import { documentDoor } from '../door.ts';
import { KEPT_FOR_GOOD, OCTETS } from '../kept-bytes.ts';
import { queryOf } from '../text-members.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const ConsistencyAnswer = z.array(Hash).describe('As RFC 9162 §2.1.4 orders them.');

nameComponents({ InclusionProof: InclusionProofNoun, ConsistencyProof: ConsistencyAnswer });

/** The newest head is asked for by all who follow the log: a shared cache may hold it for as long as one batch waits. */
const KEPT_A_MOMENT = 'public, max-age=2';

const TEXT = 'text/plain; charset=utf-8';

/** An index of more than one group is more than one segment. */
function restAsPath(params: unknown): unknown {
  if (!isJsonObject(params) || !('*' in params)) return params;
  const { '*': path, ...others } = params;
  return { ...others, path };
}

const Bytes = z.string().describe('Bytes, as they are.');

/** The receipt log as C2SP has it (https://c2sp.org/tlog-tiles), and its proofs as JSON. */
export const logDoors = [
  documentDoor({
    name: 'get_log_checkpoint',
    methods: ['GET'],
    path: '/log/checkpoint',
    summary: 'The newest head of the receipt log as a signed note (C2SP tlog-checkpoint)',
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
    summary: 'By which checkpoints are verified: verifier keys (C2SP signed-note), the current first',
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
    summary: 'Hashes of the receipt log: a tile of up to 256 (C2SP tlog-tiles)',
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
    summary: 'What the leaves of a tile are of, where that is public here (C2SP tlog-tiles, entry bundle)',
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
    summary: 'That a receipt stands in the log, as a text to be kept beside it (C2SP tlog-proof)',
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
    summary: 'That a receipt stands in the log, as JSON (RFC 9162 §2.1.3)',
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
    summary: 'That one head of the log extends another (RFC 9162 §2.1.4)',
    tags: ['log'],
    field: 'consistencyProof',
    query: queryOf(ConsistencyRequest),
    response: ConsistencyAnswer,
  }),
] as const;
