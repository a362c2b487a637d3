/** The reference tree of the Certificate Transparency project: eight leaves, in hex. */
export const leaves: readonly string[] = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];

/** Roots of the trees of the first n leaves, at index n. */
export const roots: readonly string[] = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** Hashes of leaves (l) and nodes (n) by the numbers of their leaves, for the proofs below. */
const l1 = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7';
const l4 = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b';
const l6 = 'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f';
const n01 = 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125';
const n23 = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e';
const n45 = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a';
const n67 = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0';
const n0123 = 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7';
const n4567 = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4';

export const inclusion: readonly { leaf_index: number; size: number; path: readonly string[] }[] = [
  { leaf_index: 0, size: 1, path: [] },
  { leaf_index: 0, size: 8, path: [l1, n23, n4567] },
  { leaf_index: 5, size: 8, path: [l4, n67, n0123] },
  { leaf_index: 2, size: 3, path: [n01] },
  { leaf_index: 1, size: 5, path: [roots[1] ?? '', n23, l4] },
];

export const consistency: readonly { old_size: number; size: number; proof: readonly string[] }[] = [
  { old_size: 1, size: 1, proof: [] },
  { old_size: 1, size: 8, proof: [l1, n23, n4567] },
  { old_size: 6, size: 8, proof: [n45, n67, n0123] },
  { old_size: 2, size: 5, proof: [n23, l4] },
  { old_size: 6, size: 7, proof: [n45, l6, n0123] },
];
