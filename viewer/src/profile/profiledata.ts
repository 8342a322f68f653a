// The measurements of --tool=profile, as the server sends them.

export interface Access {
  file?: string;
  line?: number;
  ptx_line?: number;
  space: string;
  what: string;
  bytes: number;
  requests: number;
  looked_at?: number;
  threads: number;
  sectors?: number;
  wavefronts?: number;
  words?: number;
  lines?: number;
  ideal: number;
  pattern: string;
  stride?: number;
}
export interface Advice {
  rule: string;
  kernel?: string;
  file?: string;
  line?: number;
  evidence: string;
  worth_ms: number | null;
  instead: string;
}
export interface Call {
  kind: string;
  name?: string;
  stream: number;
  bytes: number;
  file?: string;
  line: number;
  begin?: number;
  end?: number;
  started?: number;
  ended?: number;
}
export interface RangeBar {
  name: string;
  depth: number;
  thread: number;
  begin: number;
  end: number;
}
export interface Kernel {
  kernel: string;
  instructions: number;
  warp_instructions: number;
  launches: number;
  ns?: number;
  accesses: Access[];
  branches: { file?: string; line?: number; warps: number; parted: number }[];
  waves?: { waves: number; last_full: number };
  occupancy?: {
    arch: number;
    registers: number;
    shared: number;
    threads: number;
    warps: number;
    most_warps: number;
    limit: string;
  };
  roofline: {
    bytes: number;
    floats: number;
    intensity: number;
    bound: string;
    share_of_roof?: number;
  };
  nodes?: number;
  node_runs?: number;
  uniform?: number;
  mix?: Record<string, number>;
  achieved_warps?: number;
  working_set?: { moved_bytes: number; launch_bytes: number; multiprocessor_bytes: number };
  stall_lines?: { file: string; line: number; samples: number; reason?: string }[];
  curves?: {
    threads: [number, number][];
    registers: [number, number][];
    shared: [number, number][];
  };
}
export interface Peaks {
  device: string;
  memory: number;
  float: number;
}

export const unitsOf = (a: Access) => a.sectors ?? a.wavefronts ?? a.words ?? 0;
export interface Profile {
  advice?: Advice[];
  kernels?: Kernel[];
  peaks?: Peaks;
  timeline?: Call[];
  range_bars?: RangeBar[];
  calls?: number;
  counts?: {
    kernel: string;
    file?: string;
    line: number;
    executed: number;
    warp_executed?: number;
  }[];
  sources: { path: string; text?: string; missing?: string }[];
  kernel_ids: { id: number; kernel: string }[];
}
