"""Make tf_ops.json: what TensorFlow gives for some expressions, and for functions of a tensor.

The tests evaluate the same text with headrace.tf in TensorFlow's place. Each function is called as
it is, and traced by a dataset.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

EXPRESSIONS = r"""
tf.constant(2**40)
tf.constant(2**31)
tf.constant(2**70)
tf.constant([1,2**40])
tf.constant([1,2.0])
tf.constant([1.0,True])
tf.constant([True,1])
tf.constant([1,True])
tf.constant([[1,2],[3]])
tf.constant([])
tf.constant([[],[]])
tf.constant(np.array([1.5]),tf.int32)
tf.constant(1.5,tf.int32)
tf.constant([1.5],dtype=tf.int32)
tf.constant(np.float64(1.5),tf.int32)
tf.constant(1,tf.float32)
tf.constant(1,tf.uint8)
tf.constant(300,tf.uint8)
tf.constant(-1,tf.uint8)
tf.constant(True,tf.int32)
tf.constant(1,tf.bool)
tf.constant('a')
tf.constant(['a',b'b'])
tf.constant(['a',1])
tf.constant(1,tf.string)
tf.constant('a',tf.int32)
tf.constant(np.array(['a','b']))
tf.constant(np.array([b'a\\0',b'b']))
tf.constant(np.array(['a',b'x'],object))
tf.constant(np.array([1,2],object))
tf.constant([np.float64(1),np.float64(2)])
tf.constant([np.float64(1),2])
tf.constant([np.float32(1),2.5])
tf.constant([1,np.int64(2)])
tf.constant([np.int64(1),np.int32(2)])
tf.constant([np.array([1,2]),np.array([3,4])])
tf.constant([np.array([1.,2]),[3,4]])
tf.constant((1,2))
tf.constant(1j)
tf.constant([1j,2])
tf.constant(None)
tf.constant([None])
tf.constant({'a':1})
tf.constant(range(3))
tf.constant(5,shape=[2,2])
tf.constant([1,2,3,4],shape=[2,2])
tf.constant(np.uint16(3))
tf.constant(np.datetime64('2020-01-01'))
tf.convert_to_tensor(tf.constant(1),tf.float32)
tf.convert_to_tensor(tf.constant(1),dtype_hint=tf.float32)
tf.convert_to_tensor(1,dtype_hint=tf.float32)
tf.convert_to_tensor(1.5,dtype_hint=tf.int32)
tf.convert_to_tensor(np.array([1,2]),dtype_hint=tf.float32)
tf.convert_to_tensor(np.array([1,2]),tf.float32)
tf.convert_to_tensor(np.array([1.,2]),tf.int64)
tf.convert_to_tensor([np.int64(1)],tf.float32)
tf.convert_to_tensor(np.int64(1),tf.float32)
tf.constant(tf.constant(1),tf.float32)
tf.constant(1)+1.5
tf.constant(1)+1
tf.constant(1.)+1
tf.constant(1)+np.float32(1.5)
tf.constant(1)+np.array([1.5])
tf.constant(1)+tf.constant(1.)
tf.constant(1.)+True
tf.constant(1)+True
tf.constant(True)+True
tf.constant('a')+'b'
'a'+tf.constant('b')
tf.constant('a')+b'b'
tf.constant('a')+1
tf.constant('a')==b'a'
tf.constant('a')=='a'
tf.constant('a')==1
tf.constant(1)=='a'
tf.constant(1)==1.5
tf.constant(1)==None
tf.constant(1)==tf.constant(1.)
tf.constant([1,2])==tf.constant([1,2,3])
tf.constant([1,2])!=tf.constant([1,2,3])
tf.constant([1,2])==[1,2]
tf.constant(1)<1.5
tf.constant(1)/2
tf.constant(1,tf.int8)/tf.constant(2,tf.int8)
tf.constant(1,tf.uint8)/2
tf.constant(1,tf.int64)/2
tf.constant(1,tf.uint64)/2
tf.constant(1,tf.uint32)/2
tf.constant(1,tf.float16)/2
tf.constant(1)//2
tf.constant(-7)//2
tf.constant(-7)%3
tf.constant(-7.)%3
tf.constant(7)//0
tf.constant(7)%0
tf.constant(2)**3
tf.constant(2)**-1
tf.constant(2.)**3
2**tf.constant(3)
-tf.constant(1)
-tf.constant(1,tf.uint8)
abs(tf.constant(-1))
~tf.constant(True)
~tf.constant(1)
tf.constant(True)&True
tf.constant(6)&3
tf.constant(1)<<2
tf.constant([[1.,2.]])@tf.constant([[1.],[2.]])
np.array([1,2])+tf.constant([1,2])
np.array([1,2])+tf.constant([1,2],tf.int64)
np.int64(1)+tf.constant(1)
np.float32(1)*tf.constant(1.)
np.add(tf.constant(1),1)
np.sum(tf.constant([1,2]))
bool(tf.constant([1,2]))
bool(tf.constant('a'))
bool(tf.constant([]))
bool(tf.constant([1]))
int(tf.constant(1.5))
int(tf.constant([1]))
float(tf.constant(1))
len(tf.constant(1))
len(tf.constant([1,2]))
list(tf.constant([1,2]))
list(tf.constant(1))
[1,2][tf.constant(1)]
range(tf.constant(2))
tf.constant([1,2,3])[tf.constant(1)]
tf.constant([1,2,3])[tf.constant([1,2])]
tf.constant([1,2,3])[[1,2]]
tf.constant([1,2,3])[np.array([1])]
tf.constant([1,2,3])[tf.constant([True,False,True])]
tf.constant([1,2,3])[5]
tf.constant([1,2,3])[1:10]
tf.constant([[1,2,3]])[...,0]
tf.constant([[1,2,3]])[0,1,2]
tf.constant([1,2,3])[tf.newaxis]
tf.constant([1,2,3])[1.5]
tf.constant([1,2,3])['a']
tf.constant([1,2,3]).numpy()
tf.constant(1).numpy()
tf.constant('a').numpy()
tf.constant(['a']).numpy()
str(tf.constant(1))
str(tf.constant([1,2]))
str(tf.constant('a'))
f"{tf.constant(1)}"
f"{tf.constant(1.5):.2f}"
tf.constant(1).shape
tf.constant(1).dtype
tf.constant([1]).get_shape()
tf.constant(1).ndim
tf.constant(1) in [1]
1 in tf.constant([1,2])
tf.constant(1) is None
tf.constant(1).set_shape([])
tf.is_tensor(tf.constant(1))
tf.is_tensor(np.array(1))
tf.constant(3)&tf.constant(True)
tf.constant(1)+None
tf.constant(1)+[1,2]
tf.constant(1)+[1.5]
tf.constant([1,2,3])+tf.constant([1,2])
tf.constant(1,tf.bfloat16)
divmod(tf.constant(7),2)
tf.constant(1,tf.int64)+np.int32(1)
tf.constant(1,tf.float64)+np.float32(1)
tf.constant([1.,2.])+np.arange(2)
tf.constant(1,tf.int64)+2**40
tf.constant(1)+2**40
tf.constant(1,tf.uint8)+(-1)
tf.constant(1,tf.uint8)+256
tf.constant(0)**0
tf.constant([np.uint8(1)])
tf.constant([np.float16(1)])
tf.constant([np.bool_(True)])
tf.constant([np.array([1,2],np.uint8)])
tf.constant([np.array([1.,2],np.float32),[1,2]])
tf.constant([1, np.float64(2)])
tf.constant([1.0, np.float64(2)])
tf.constant([np.complex64(1)])
tf.constant(np.bool_(True))
tf.constant([1,None])
tf.constant('é')
tf.constant(np.array('a'))
tf.constant([['a'],['b','c']])
tf.constant([1,2],tf.float64)
tf.constant([1.,2.],tf.float16)
tf.constant(2**40,tf.int32)
tf.constant(1e300)
tf.constant([True,False],tf.int32)
tf.constant(1,tf.complex64)
tf.convert_to_tensor([tf.constant(1),2])
tf.convert_to_tensor([tf.constant(1),2.5])
tf.convert_to_tensor([[tf.constant(1.),2],[3,4]])
tf.convert_to_tensor([np.array([1,2]),tf.constant([1,2],tf.int64)])
tf.convert_to_tensor(tf.ragged.constant([[1]]))
tf.add(1,2)
tf.add(1,2.5)
tf.add([1],[2.5])
tf.add(1.5,1)
tf.add(np.array([1]),2)
tf.add(1,np.array([1]))
tf.add(1,tf.constant(2.))
tf.multiply(2,np.float32(2))
tf.maximum(1,2.)
tf.maximum(np.array([1]),2)
tf.equal(1,1.)
tf.equal(tf.constant(1.),1)
tf.concat([[1],[2.]],0)
tf.concat([[1],tf.constant([2],tf.int64)],0)
tf.stack([1,tf.constant(2,tf.int64)])
tf.where(True,1,2.)
tf.where([True,False],[1,2],tf.constant([3,4],tf.int64))
tf.reduce_sum(np.array([1,2],np.int8))
tf.reduce_mean([1,2])
tf.reduce_mean([1,2.])
tf.range(3)
tf.range(3.)
tf.range(1,5,2,dtype=tf.int64)
tf.range(tf.constant(3,tf.int64))
tf.range(0,3.,1)
tf.range(tf.constant(0),tf.constant(3,tf.int64))
tf.argmax([1,3,2])
tf.argmax([1,3,2],output_type=tf.int32)
tf.shape([1,2])
tf.size([1,2])
tf.rank([1,2])
tf.shape([1,2],out_type=tf.int64)
tf.cast(1.9,tf.int32)
tf.cast(-1.9,tf.int32)
tf.cast([1.9],'int64')
tf.cast(True,tf.float32)
tf.cast('1',tf.int32)
tf.cast(1j,tf.float32)
tf.cast(300,tf.uint8)
tf.cast(1e10,tf.int32)
tf.cast(float('nan'),tf.int32)
tf.cast(1,tf.string)
tf.reshape([1,2,3,4],[2,-1])
tf.reshape([1,2,3],[2,2])
tf.reshape(tf.constant([1,2]),tf.constant([2,1]))
tf.one_hot([0,2,-1],3)
tf.one_hot(1,3,dtype=tf.int32)
tf.one_hot([0,1],3,on_value=5,off_value=1)
tf.eye(2)
tf.fill([2],1)
tf.zeros(3)
tf.zeros([2],tf.string)
tf.ones_like([1.5])
tf.zeros_like(['a'])
tf.pad([1,2],[[1,1]])
tf.pad([1,2],[[1,1]],constant_values=9)
tf.pad([1,2,3],[[1,1]],'REFLECT')
tf.tile([1,2],[2])
tf.gather([1,2,3],[0,2])
tf.gather([1,2,3],5)
tf.gather_nd([[1,2],[3,4]],[[0,1]])
tf.boolean_mask([1,2,3],[True,False,True])
tf.where([True,False,True])
tf.unique([1,1,2])
tf.math.top_k([1,3,2],2)
tf.split([1,2,3,4],2)
tf.split([1,2,3],[1,2])
tf.split([1,2,3],2)
tf.unstack([[1,2],[3,4]])
tf.squeeze([[1]])
tf.squeeze([[1,2]],0)
tf.squeeze([[1,2]],1)
tf.expand_dims([1],0)
tf.expand_dims([1],5)
tf.transpose([[1,2],[3,4]])
tf.reverse([1,2,3],[0])
tf.slice([1,2,3],[1],[2])
tf.slice([1,2,3],[1],[-1])
tf.slice([1,2,3],[1],[5])
tf.strided_slice([1,2,3],[0],[3],[2])
tf.linspace(0.,1.,3)
tf.linspace(0,1,3)
tf.linspace(-1.,1.,6)
tf.linspace(0.,0.7,7)
tf.linspace(0,10,4)
tf.linspace([0.,5.],[1.,6.],3)
tf.linspace([0.,5.],[1.,6.],3,axis=-1)
tf.linspace(0.,1.,1)
tf.linspace(0.,1.,0)
tf.linspace(tf.constant(0.,tf.float64),tf.constant(1.,tf.float64),7)
tf.meshgrid([1,2],[3,4,5])
tf.meshgrid([1,2],[3,4,5],indexing='ij')
tf.meshgrid([1,2],[3,4,5],[6,7])
tf.meshgrid([1,2])
tf.bitcast([1.,2.],tf.int32)
tf.bitcast([1.,2.],tf.uint8)
tf.bitcast(np.array([[1,2,3,4]],np.uint8),tf.int32)
tf.bitcast(np.array([[1,2,3]],np.uint8),tf.int32)
tf.bitcast(np.uint8(3),tf.int32)
tf.bitcast(True,tf.uint8)
tf.math.segment_sum([1.,2,3],[0,0,2])
tf.math.segment_sum([[1,2],[3,4]],[1,3])
tf.math.segment_sum([1.,2],[1,0])
tf.math.segment_sum([1.,2],[-1,0])
tf.math.segment_sum([1.,2],[0,1,1])
tf.math.segment_sum(tf.zeros([0]),tf.zeros([0],tf.int32))
tf.math.segment_sum(tf.constant([3,4],tf.uint8),tf.constant([0,0],tf.int64))
tf.math.segment_prod([1.,2,3],[0,0,2])
tf.math.segment_prod([[1,2],[3,4]],[1,3])
tf.math.segment_max([1.,2,3],[0,0,2])
tf.math.segment_max([-1,-2],[1,1])
tf.math.segment_max([float('nan'),1.],[0,0])
tf.math.segment_max([1.,float('nan')],[0,0])
tf.math.segment_min([1.,2,3],[0,0,2])
tf.math.segment_min([1.,float('nan')],[0,0])
tf.math.segment_mean([1.,2,3],[0,0,2])
tf.math.segment_mean([7,8],[1,1])
tf.math.unsorted_segment_sum([1.,2,3],[2,0,2],4)
tf.math.unsorted_segment_sum([1.,2],[-1,0],2)
tf.math.unsorted_segment_sum([1.,2],[0,5],2)
tf.math.unsorted_segment_sum([[1,2],[3,4]],[[0,1],[1,1]],2)
tf.math.unsorted_segment_sum([1.],[0],-1)
tf.math.unsorted_segment_sum([1.,2],[0],2)
tf.math.unsorted_segment_prod([7,8],[1,1],3)
tf.math.unsorted_segment_max([1.,2,3],[2,0,2],4)
tf.math.unsorted_segment_max([7,8],[1,1],3)
tf.math.unsorted_segment_min(tf.constant([7.,8],tf.float16),[1,1],3)
tf.math.unsorted_segment_min([1.,2,3],[2,0,2],4)
tf.math.unsorted_segment_mean([1.,2,3],[2,0,2],4)
tf.math.unsorted_segment_mean([7,8],[1,1],3)
tf.math.unsorted_segment_mean([[1.,2],[3,4]],[0,0],2)
tf.math.unsorted_segment_sqrt_n([1.,2,3],[2,0,2],4)
tf.math.unsorted_segment_sqrt_n([7,8],[1,1],3)
tf.scatter_nd([[1],[1],[2]],[1,2,3],[4])
tf.scatter_nd([[5]],[1],[4])
tf.scatter_nd([[-1]],[1],[4])
tf.scatter_nd([[0,1]],[5],[2,2])
tf.scatter_nd([[0]],[5],[2,2])
tf.scatter_nd([[0]],[[5,6]],[2,2])
tf.tensor_scatter_nd_add([1,2,3],[[1],[1]],[10,20])
tf.tensor_scatter_nd_add([1,2,3],[[3]],[10])
tf.tensor_scatter_nd_add([[1,2],[3,4]],[[1]],[[7,0]])
tf.tensor_scatter_nd_add([[1,2],[3,4]],[[1]],[7,0])
tf.tensor_scatter_nd_add([1,2,3],tf.zeros([0,1],tf.int32),tf.zeros([0],tf.int32))
tf.tensor_scatter_nd_add([1,2],[[0,0]],[5])
tf.tensor_scatter_nd_sub([1,2,3],[[1],[1]],[10,20])
tf.tensor_scatter_nd_min([[1,2],[3,4]],[[1]],[[7,0]])
tf.tensor_scatter_nd_max([[1,2],[3,4]],[[1]],[[7,0]])
tf.tensor_scatter_nd_update([1,2,3],[[1],[1]],[10,20])
tf.tensor_scatter_nd_update(['a','b'],[[1],[1]],['c','d'])
tf.tensor_scatter_nd_update([True,False],[[1]],[True])
tf.tensor_scatter_nd_update([1,2],[[0]],[5.0])
tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a','b'],tf.constant([0,1],tf.int64)),3).lookup(tf.constant(['a','b','c','d','e']))
tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant([10,20],tf.int64),tf.constant([0,1],tf.int64)),3).lookup(tf.constant([10,20,30,40,-5],tf.int64))
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a','b'],[1,2]),-1).lookup(tf.constant([['a','z']]))
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a','b'],[1,2]),-1).lookup(tf.constant([1]))
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([3,4],['x','y']),'?').lookup(tf.constant([[4],[5]]))
tf.map_fn(lambda x: x*2, tf.constant([1,2]))
tf.map_fn(lambda x: (x[0]+x[1], x[0]), (np.int32([1,2]), np.int32([3,4])), dtype=(tf.int32,)*2)
tf.clip_by_value([1,5],2,3)
tf.floor([1.5])
tf.floor([1])
tf.sqrt(4)
tf.sqrt(4.)
tf.exp(1)
tf.square(3)
tf.sigmoid(0.)
tf.abs(-1)
tf.sign(-2.)
tf.matmul([[1,2]],[[1],[2]])
tf.tensordot([1,2],[3,4],1)
tf.norm([3.,4.])
tf.sort([3,1,2],direction='DESCENDING')
tf.argsort([3,1,2])
tf.cumsum([1,2,3])
tf.math.divide_no_nan(1.,0.)
tf.math.floormod(-7,3)
tf.math.floordiv(-7,2)
tf.math.mod(-7,3)
tf.truncatediv(-7,2)
tf.math.truediv(1,2)
tf.divide(1,2)
tf.realdiv(1.,2.)
tf.pow(2,3)
tf.pow(2,3.)
tf.logical_and(True,1)
tf.logical_and(True,False)
tf.reduce_any([True,False])
tf.reduce_all([[True],[False]],axis=1)
tf.reduce_max([])
tf.reduce_max([1,2])
tf.reduce_prod([1,2,3])
tf.reduce_sum([[1,2],[3,4]],axis=[0,1])
tf.reduce_sum([[1,2],[3,4]],axis=5)
tf.reduce_sum([True])
tf.math.reduce_std([1.,2.])
tf.math.reduce_variance([1.,2.])
tf.reduce_logsumexp([1.,2.])
tf.cond(True,lambda:1,lambda:2)
tf.cond(1,lambda:1,lambda:2)
tf.case([(tf.constant(False),lambda:1)],default=lambda:3)
tf.switch_case(1,[lambda:1,lambda:2])
tf.while_loop(lambda i:tf.less(i,3),lambda i:(i+1,),[tf.constant(0)])
tf.identity(5)
tf.ensure_shape([1,2],[2])
tf.ensure_shape([1,2],[3])
tf.broadcast_to([1],[2,2])
tf.no_op()
tf.group()
tf.debugging.assert_equal(1,1)
tf.debugging.assert_equal(1,2)
tf.debugging.assert_equal([1,2],[1,3],message='hi')
tf.debugging.assert_rank([1],0)
tf.Assert(False,['x'])
tf.nest.flatten({'b':1,'a':[2,None]})
tf.nest.map_structure(lambda x:x+1,{'b':1,'a':(2,[3])})
tf.nest.pack_sequence_as({'b':1,'a':[2]},[1,2])
tf.nest.pack_sequence_as([1],[1,2])
tf.nest.assert_same_structure([1],(1,))
tf.nest.assert_same_structure([1],[1,2])
tf.nest.map_structure(lambda a,b:a+b,[1],[2,3])
tf.nest.is_nested([1])
tf.nest.flatten(None)
tf.executing_eagerly()
tf.random.set_seed(1)
tf.ragged.constant([[1,2],[3]])
tf.ragged.constant([[1,2],[3]]).to_list()
tf.ragged.constant([[1,2],[3]]).shape
tf.ragged.constant([[1,2],[3]]).values
tf.ragged.constant([[1,2],[3]]).row_splits
tf.ragged.constant([[1,2],[3]]).bounding_shape()
tf.ragged.constant([[1,2],[3]]).to_tensor()
tf.ragged.constant([[1,2],[3]])[0]
tf.ragged.constant([[1,2],[3]])[:,0]
tf.ragged.constant([[1,2],[3]])[1:]
tf.ragged.constant([[1,2],[3]])+1
tf.ragged.constant([[1,2],[3,4]]).numpy()
tf.ragged.constant([[1,2],[3]]).row_lengths()
tf.ragged.constant([[1,2],[3]]).nrows()
tf.ragged.constant([[1,2],[3]]).flat_values
tf.ragged.constant([[1,2],[3]]).nested_row_splits
tf.ragged.constant([['a'],[]])
tf.ragged.constant([[1.]])
tf.ragged.constant([])
tf.ragged.constant([1])
tf.ragged.constant([[[1],[2,3]],[]])
tf.ragged.stack([[1],[2,3]])
tf.RaggedTensor.from_row_splits([1,2,3],[0,1,3])
tf.RaggedTensor.from_row_lengths([1,2,3],[1,2])
tf.RaggedTensor.from_tensor([[1,2],[3,0]],padding=0)
tf.sparse.from_dense([0,1])
tf.sparse.to_dense(tf.sparse.from_dense([0,1]))
tf.SparseTensor([[0]],[1],[3])
tf.SparseTensor([[0]],[1],[3]).shape
tf.SparseTensor([[0]],[1],[3]).dense_shape
tf.sparse.slice(tf.sparse.from_dense([[0,1],[2,0]]),[0,0],[1,2])
tf.sparse.reshape(tf.sparse.from_dense([[0,1],[2,0]]),[4])
tf.strings.length('abc')
tf.strings.split('a b  c')
tf.strings.split(['a b','c'])
tf.strings.join(['a','b'],'-')
tf.strings.as_string([1.5,2])
tf.strings.as_string(1)
tf.strings.to_number('1.5')
tf.strings.to_number('x')
tf.strings.substr('hello',1,3)
""".strip().splitlines()

# What these give is compared as text.
TYPES = r"""
tf.float32
str(tf.float32)
tf.string.name
tf.string.size
tf.bool.size
tf.bfloat16.size
tf.float32.max
tf.int32.min
tf.int8.limits
tf.float32.is_numpy_compatible
tf.float32.real_dtype
tf.complex64.real_dtype
tf.float32.base_dtype
tf.float32.as_datatype_enum
tf.float32.is_integer
tf.bool.is_bool
tf.uint8.is_unsigned
tf.bfloat16.is_floating
tf.bool.is_integer
tf.bool.max
tf.string.min
tf.float32=='float32'
tf.float32==np.float32
tf.float32==np.dtype('float32')
tf.float32=='foo'
tf.string==str
tf.as_dtype(str)
tf.as_dtype(int)
tf.as_dtype(float)
tf.as_dtype(bool)
tf.as_dtype('string')
tf.as_dtype('half')
tf.as_dtype(np.int64)
tf.as_dtype(1)
tf.as_dtype('foo')
tf.as_dtype(None)
tf.as_dtype(bytes)
tf.float32.is_compatible_with(tf.float32)
tf.DType(1)
tf.TensorShape(None)
tf.TensorShape([1,None])
str(tf.TensorShape([1,None]))
str(tf.TensorShape(None))
tf.TensorShape(3)
tf.TensorShape([1,None]).as_list()
tf.TensorShape(None).as_list()
tf.TensorShape(None).rank
tf.TensorShape([1,2]).ndims
len(tf.TensorShape(None))
bool(tf.TensorShape(None))
bool(tf.TensorShape([]))
tf.TensorShape([1,None])[1]
tf.TensorShape([1,None])[0:1]
tf.TensorShape(None)[0]
tf.TensorShape(None)[1:]
tf.TensorShape(None)[:2]
tf.TensorShape([1,2])+[3]
[3]+tf.TensorShape([1,2])
tf.TensorShape([1,2]).concatenate([3])
tf.TensorShape([1,None]).merge_with([None,2])
tf.TensorShape([1,None]).merge_with([2,2])
tf.TensorShape([1,None]).is_compatible_with([1,5])
tf.TensorShape([1,None])==[1,None]
tf.TensorShape([1,None])==tf.TensorShape([1,None])
tf.TensorShape(None)==tf.TensorShape(None)
tf.TensorShape([1,2])==(1,2)
tf.TensorShape([1,2])!=(1,2)
tf.TensorShape([1,2])=='a'
tf.TensorShape([1,2]).num_elements()
tf.TensorShape([1,None]).num_elements()
tf.TensorShape([1,None]).is_fully_defined()
tf.TensorShape([1,2]).dims
tf.TensorShape([-1,2])
tf.TensorShape([1.5])
tf.TensorShape([1,2]).with_rank(3)
tf.TensorShape([1,2]).with_rank_at_least(3)
tf.TensorShape([1,None]).most_specific_compatible_shape([2,3])
tf.TensorShape([1,2]).assert_has_rank(3)
tf.TensorShape([1,2]).assert_is_compatible_with([3])
tuple(tf.TensorShape([1,2]))
tf.TensorSpec([1,None])
tf.TensorSpec([1,None],tf.int32,'x')
tf.TensorSpec([1])==tf.TensorSpec([1],tf.float32)
tf.TensorSpec([None]).is_compatible_with(tf.constant([1.]))
tf.TensorSpec([None]).is_compatible_with([1.])
tf.TensorSpec([None]).is_compatible_with(tf.TensorSpec([2]))
tf.TensorSpec.from_tensor(tf.constant(1))
tf.TensorSpec([None]).most_specific_compatible_type(tf.TensorSpec([2]))
tf.RaggedTensorSpec([2,None],tf.int32)
tf.RaggedTensorSpec([2,None],tf.int32).ragged_rank
tf.SparseTensorSpec([2,None],tf.int32)
tf.NoneTensorSpec()
tf.OptionalSpec(tf.TensorSpec([]))
tf.type_spec_from_value(tf.constant(1))
tf.type_spec_from_value(np.array([1.]))
tf.type_spec_from_value(1)
tf.type_spec_from_value('a')
tf.type_spec_from_value([1])
tf.type_spec_from_value(tf.ragged.constant([[1]]))
tf.type_spec_from_value(tf.sparse.from_dense([1,0]))
tf.data.DatasetSpec(tf.TensorSpec([],tf.int64))
""".strip().splitlines()

# A function, and the tensor it gets.
FUNCTIONS = r"""
lambda x: x + 1 | [1, 2, 3]
lambda x: x / 2 | np.array([1, 2], np.int8)
lambda x: x // 2 | [-3, 3]
lambda x: x % 2 | [-3, 3]
lambda x: x ** 2 | [1.5, 2.0]
lambda x: -x | [1.5, 2.0]
lambda x: abs(x) | [-1, 2]
lambda x: x > 1 | [1, 2]
lambda x: x == 2 | [1, 2]
lambda x: x != [1, 3] | [1, 2]
lambda x: (x > 1) & (x < 3) | [1, 2, 3]
lambda x: ~(x > 1) | [1, 2, 3]
lambda x: x[0] | [1, 2, 3]
lambda x: x[-1] | [[1, 2], [3, 4]]
lambda x: x[..., 1:] | [[1, 2], [3, 4]]
lambda x: x[:, tf.newaxis] | [[1, 2], [3, 4]]
lambda x: x[::-1] | [1, 2, 3]
lambda x: x[x[0]] | [1, 2, 3]
lambda x: x[: x[0]] | [1, 2, 3]
lambda x: tf.cast(x, tf.int32) | [1.7, -1.7]
lambda x: tf.cast(x, tf.float32) / 255.0 | np.array([0, 255], np.uint8)
lambda x: tf.reshape(x, [2, 3]) | list(range(6))
lambda x: tf.reshape(x, [-1, 2]) | list(range(6))
lambda x: tf.reshape(x, [tf.shape(x)[0] // 2, 2]) | list(range(6))
lambda x: tf.expand_dims(x, -1) | [1, 2]
lambda x: tf.squeeze(x, axis=0) | [[1, 2]]
lambda x: tf.transpose(x) | [[1, 2, 3]]
lambda x: tf.transpose(x, perm=[1, 0]) | [[1, 2, 3]]
lambda x: tf.reverse(x, [0]) | [1, 2]
lambda x: tf.concat([x, x], 0) | [1, 2]
lambda x: tf.concat([x, [7]], axis=0) | [1, 2]
lambda x: tf.stack([x, x], axis=1) | [1, 2]
lambda x: tf.unstack(x)[1] | [1, 2]
lambda x: tf.split(x, 2)[1] | [1, 2, 3, 4]
lambda x: tf.split(x, [1, -1])[1] | [1, 2, 3, 4]
lambda x: tf.tile(x, [2]) | [1, 2]
lambda x: tf.tile(x, [1, 3]) | [[1, 2]]
lambda x: tf.pad(x, [[1, 2]]) | [1, 2]
lambda x: tf.pad(x, [[0, 0], [1, 1]], constant_values=-1) | [[1, 2]]
lambda x: tf.slice(x, [1], [2]) | [1, 2, 3]
lambda x: tf.gather(x, [2, 0]) | [1, 2, 3]
lambda x: tf.gather(x, [1], axis=1) | [[1, 2, 3]]
lambda x: tf.boolean_mask(x, x > 1) | [1, 2, 3]
lambda x: tf.where(x > 1, x, -x) | [1, 2, 3]
lambda x: tf.where(x > 1) | [1, 2, 3]
lambda x: tf.one_hot(x, 4) | [0, 3]
lambda x: tf.one_hot(x, 3, on_value=1, off_value=0) | 1
lambda x: tf.zeros_like(x) | [1.5, 2.5]
lambda x: tf.ones_like(x, dtype=tf.int64) | [1.5, 2.5]
lambda x: tf.fill([2, 2], x) | 7
lambda x: tf.range(x) | 3
lambda x: tf.shape(x) | [[1, 2]]
lambda x: tf.size(x) | [[1, 2]]
lambda x: tf.rank(x) | [[1, 2]]
lambda x: tf.reduce_sum(x) | [1, 2, 3]
lambda x: tf.reduce_sum(x, axis=1, keepdims=True) | [[1, 2], [3, 4]]
lambda x: tf.reduce_mean(x) | [1.0, 2.0, 4.0]
lambda x: tf.reduce_mean(x, axis=-1) | [[1.0, 2.0], [3.0, 4.0]]
lambda x: tf.reduce_max(x) | [1, 5, 3]
lambda x: tf.reduce_min(x, axis=0) | [[1, 5], [3, 2]]
lambda x: tf.reduce_prod(x) | [1, 2, 3]
lambda x: tf.reduce_any(x > 2) | [1, 2, 3]
lambda x: tf.reduce_all(x > 0) | [1, 2, 3]
lambda x: tf.argmax(x) | [1, 5, 3]
lambda x: tf.argmin(x, axis=1, output_type=tf.int32) | [[1, 5], [3, 2]]
lambda x: tf.maximum(x, 2) | [1, 5]
lambda x: tf.minimum(x, [2, 9]) | [1, 5]
lambda x: tf.clip_by_value(x, 2, 4) | [1, 3, 5]
lambda x: tf.square(x) | [2, 3]
lambda x: tf.sqrt(x) | [4.0, 9.0]
lambda x: tf.round(x) | [0.5, 1.5, 2.4]
lambda x: tf.floor(x) | [0.5, -1.5]
lambda x: tf.math.ceil(x) | [0.5, -1.5]
lambda x: tf.sign(x) | [-2.0, 0.0, 3.0]
lambda x: tf.logical_not(x > 1) | [1, 2]
lambda x: tf.equal(x, 2) | [1, 2]
lambda x: tf.math.floormod(x, 2) | [1, 2, -3]
lambda x: tf.math.divide_no_nan(x, [0.0, 2.0]) | [1.0, 3.0]
lambda x: tf.matmul(x, x) | [[1.0, 2.0], [3.0, 4.0]]
lambda x: tf.sort(x) | [3, 1, 2]
lambda x: tf.argsort(x, direction='DESCENDING') | [3, 1, 2]
lambda x: tf.unique(x)[0] | [3, 1, 3]
lambda x: tf.cumsum(x) | [1, 2, 3]
lambda x: tf.cumsum(x, exclusive=True, reverse=True) | [1, 2, 3]
lambda x: tf.identity(x) | [1]
lambda x: tf.ensure_shape(x, [None]) | [1]
lambda x: tf.broadcast_to(x, [2, 2]) | [1, 2]
lambda x: tf.cond(x > 2, lambda: x, lambda: -x) | 1
lambda x: tf.cond(tf.reduce_sum(x) > 2, lambda: x[:1], lambda: x) | [1, 2]
lambda x: tf.py_function(lambda y: y * 2, [x], tf.int32) | 4
lambda x: tf.numpy_function(lambda y: y * 2, [x], tf.int32) | 4
lambda x: tf.strings.length(x) | ["ab", "c"]
lambda x: tf.strings.upper(x) | ["ab", "c"]
lambda x: x + "z" | ["ab", "c"]
lambda x: tf.strings.join([x, x], "-") | ["ab", "c"]
lambda x: tf.strings.substr(x, 0, 1) | ["ab", "c"]
lambda x: tf.strings.split(x, ",") | "a,b"
lambda x: tf.strings.to_number(x, tf.int32) | ["12", "3"]
lambda x: tf.strings.regex_replace(x, "[0-9]", "#") | ["a1", "22"]
lambda x: tf.strings.reduce_join(x) | ["a", "b"]
lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)) | [0, 1, 2]
lambda x: tf.RaggedTensor.from_tensor(x, padding=0).to_tensor() | [[1, 0], [2, 3]]
lambda x: tf.linalg.norm(x) | [3.0, 4.0]
lambda x: tf.nest.map_structure(lambda y: y + 1, x) | [1, 2]
lambda x: tf.math.top_k(x, 2)[0] | [1, 3, 2]
lambda x: tf.roll(x, 1, 0) | [1, 2, 3]
lambda x: tf.repeat(x, 2) | [1, 2]
lambda x: tf.sequence_mask(x, 3) | [1, 2]
lambda x: tf.math.reduce_std(x) | [1.0, 2.0]
lambda x: tf.bitwise.bitwise_and(x, 3) | [5, 6]
lambda x: tf.saturate_cast(x, tf.uint8) | [-1, 300]
lambda x: tf.linspace(0.0, 1.0, 3) * x | 2.0
lambda x: tf.eye(2) * x | 2.0
lambda x: tf.gather_nd(x, [[0, 1]]) | [[1, 2], [3, 4]]
lambda x: tf.tensor_scatter_nd_update(x, [[1]], [9]) | [1, 2]
lambda x: tf.map_fn(lambda y: y * 2, x) | [1, 2]
lambda x: tf.map_fn(lambda y: tf.reduce_sum(y) + x[0, 0], x) | [[1, 2], [3, 4]]
lambda x: tf.map_fn(lambda y: (y, y * 2), x, dtype=(tf.int32,) * 2) | np.int32([1, 2])
lambda x: tf.math.segment_sum(x, [0, 0, 2]) | [1.0, 2.0, 3.0]
lambda x: tf.math.segment_max(x, [1, 1, 2]) | [[1], [5], [3]]
lambda x: tf.math.unsorted_segment_sum(x, x, 4) | [3, 1, 3]
lambda x: tf.math.unsorted_segment_min(x, x, tf.reduce_max(x) + 1) | [3, 1, 3]
lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 3) | [3.0, 1.0, 4.0]
lambda x: tf.scatter_nd([[1], [0]], x, [3]) | [7, 8]
lambda x: tf.scatter_nd(x[:, None], x, [tf.reduce_max(x) + 1]) | [3, 1, 3]
lambda x: tf.tensor_scatter_nd_add(x, [[1], [1]], [9, 1]) | [1, 2]
lambda x: tf.tensor_scatter_nd_sub(x, [[1]], [[9, 1]]) | [[1, 2], [3, 4]]
lambda x: tf.tensor_scatter_nd_max(x, [[0, 1]], [9]) | [[1, 2], [3, 4]]
lambda x: tf.bitcast(x, tf.int32) | [1.0, -0.0]
lambda x: tf.bitcast(x, tf.float32) | np.array([[0, 0, 128, 63]], np.uint8)
lambda x: tf.meshgrid(x, [1.0, 2.0]) | [5.0, 6.0, 7.0]
lambda x: tf.meshgrid(x[:, 0], x[0], indexing='ij') | [[5, 6, 7], [8, 9, 10]]
lambda x: tf.linspace(x, x * 3, 4) | [1.0, -2.0]
lambda x: tf.linspace(x, 9, 4, axis=-1) | [1, 2]
lambda x: tf.case([(x > 2, lambda: 1), (x > 0, lambda: 2)], default=lambda: 3) | 1
lambda x: tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (0, x))[1] | 5
""".strip().splitlines()


def described(value):
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor):
        kind = "ragged" if isinstance(value, tf.RaggedTensor) else "sparse"
        dense = value.to_list() if kind == "ragged" else tf.sparse.to_dense(value).numpy().tolist()
        return {"kind": kind, "dtype": value.dtype.name, "value": repr(dense)}
    if isinstance(value, tf.Tensor):
        return {
            "kind": "tensor",
            "dtype": value.dtype.name,
            "shape": value.shape.as_list(),
            "value": repr(value.numpy().tolist() if value.shape.rank else plain(value.numpy())),
        }
    if isinstance(value, list | tuple):
        return {"kind": "list", "items": [described(item) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        return {"kind": "array", "dtype": str(value.dtype), "value": repr(value.tolist())}
    return {"kind": "other", "value": repr(value)}


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def answer(text, names=None):
    try:
        return described(eval(text, {"tf": tf, "np": np, **(names or {})}))
    except Exception as error:
        return {"kind": "error", "classes": [kind.__name__ for kind in type(error).__mro__]}


def written(text):
    try:
        return {"repr": repr(eval(text, {"tf": tf, "np": np}))}
    except Exception as error:
        return {"error": type(error).__name__}


def traced(text, argument):
    try:
        value = eval(argument, {"np": np})
        dataset = tf.data.Dataset.from_tensors(value).map(eval(text, {"tf": tf, "np": np}))
        return {"spec": repr(dataset.element_spec), **described(next(iter(dataset)))}
    except Exception as error:
        return {"kind": "error", "classes": [kind.__name__ for kind in type(error).__mro__]}


if __name__ == "__main__":
    functions = []
    for line in FUNCTIONS:
        text, argument = line.rsplit(" | ", 1)
        value = tf.constant(eval(argument, {"np": np}))
        found = answer(f"({text})(value)", {"value": value})
        also = traced(text, argument)
        functions.append({"function": text, "argument": argument, "eager": found, "traced": also})
    answers = {
        "tf": tf.__version__,
        "expressions": [{"text": text, **answer(text)} for text in EXPRESSIONS],
        "functions": functions,
        "types": [{"text": text, **written(text)} for text in TYPES],
    }
    Path(__file__).with_name("tf_ops.json").write_text(json.dumps(answers, indent=1) + "\n")
